import torch


def sdpa(Q, K, V, mask=None):
    energy = Q @ K.transpose(-2, -1)
    if mask is not None:
        energy = energy.masked_fill(~mask, torch.finfo(energy.dtype).min)
    alpha = energy.softmax(dim=-2)
    if mask is not None:
        alpha = alpha.masked_fill(~mask, 0)
    return alpha @ V
