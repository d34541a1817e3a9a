import torch


def softmax(x, axis=-1):
    out = torch.zeros(x.shape)
    out += torch.softmax(x, dim=axis)
    return out
