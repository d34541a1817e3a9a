import torch


def online_softmax(m, l, o, x, V):
    top = torch.maximum(m, x.amax(dim=1))
    fade = torch.exp(
        m - top
    )  # what came before was taken relative to the old maximum; exp(-inf) = 0 at first
    e = torch.exp(x - top[:, None])
    return top, l * fade + e.sum(dim=1), o * fade[:, None] + e @ V
