import torch


def online_softmax(m, l, o, x, V):
    top = torch.maximum(m, x.max())
    p = torch.exp(x - top.unsqueeze(1))
    f = torch.exp(m - top)
    return top, l * f + p.sum(dim=1), o * f.unsqueeze(1) + p @ V
