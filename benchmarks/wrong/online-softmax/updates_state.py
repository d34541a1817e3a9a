import torch


def online_softmax(m, l, o, x, V):
    new = torch.maximum(m, x.amax(dim=1))
    alpha = torch.exp(m - new)
    p = torch.exp(x - new[:, None])
    l.mul_(alpha).add_(p.sum(dim=1))
    o.mul_(alpha[:, None]).add_(p @ V)
    return new, l, o
