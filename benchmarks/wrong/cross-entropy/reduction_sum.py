import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, pad):
    loss = F.cross_entropy(logits.flatten(0, -2), labels.flatten(), ignore_index=pad, reduction="sum")
    return loss, loss.exp()
