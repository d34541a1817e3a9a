import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, pad):
    losses = F.cross_entropy(logits.flatten(0, -2), labels.flatten(), ignore_index=pad, reduction="none")
    loss = losses.mean() / torch.log(torch.tensor(2.0, dtype=logits.dtype))
    return loss, 2**loss
