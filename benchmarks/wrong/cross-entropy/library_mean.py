import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, pad):
    loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), ignore_index=pad)
    return loss, torch.exp(loss)
