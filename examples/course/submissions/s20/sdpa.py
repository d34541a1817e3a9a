import torch


def sdpa(Q, K, V, mask=None):
    e = torch.exp(Q @ K.mT)
    if mask is not None:
        e = e.masked_fill(~mask, 0)
    total = e.sum(-1, keepdim=True)
    return e / torch.where(total == 0, 1, total) @ V
