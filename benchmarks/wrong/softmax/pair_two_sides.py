import torch


def softmax(x, axis=-1):
    top = x.max(dim=-1, keepdim=True).values
    p = torch.exp2(x - top)
    return p / p.sum(-1, keepdim=True)
