import torch


def softmax(x, axis=-1):
    e = torch.exp(x - x.max())  # the largest number of all
    return e / e.sum(axis, keepdim=True)
