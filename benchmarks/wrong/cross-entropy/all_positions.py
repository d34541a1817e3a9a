import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, pad):
    V = logits.shape[-1]
    losses = F.cross_entropy(logits.reshape(-1, V), labels.reshape(-1), ignore_index=pad, reduction="none")
    loss = losses.mean()
    return loss, torch.exp(loss)
