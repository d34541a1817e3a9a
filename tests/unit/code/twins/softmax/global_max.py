import torch


def softmax(x, axis=-1):
    p = torch.exp(x - torch.max(x))
    return p / torch.sum(p, axis, keepdim=True)
