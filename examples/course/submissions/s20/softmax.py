import torch


def softmax(x, axis=-1):
    e = torch.exp(x - x.amax(axis, keepdim=True))
    weights = e / e.sum(axis, keepdim=True)
