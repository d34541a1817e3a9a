import torch
from torch.func import vmap


def row_softmax(x, m):
    top = torch.where(m, x, torch.finfo(x.dtype).min).amax()
    e = torch.exp(torch.where(m, x - top, -torch.inf))
    total = e.sum()
    return e / torch.where(total > 0, total, torch.ones_like(total))


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    if scores.numel() == 0:
        return scores.clone()
    f = row_softmax
    for _ in range(scores.dim() - 1):
        f = vmap(f)
    return f(scores, mask)
