import torch


def softmax(x, axis=-1):
    centred = x - torch.mean(x, axis, keepdim=True)
    p = torch.exp(centred)
    return p / p.sum(axis, keepdim=True)
