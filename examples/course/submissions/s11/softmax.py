import torch


def softmax(x, axis=-1):
    return torch.softmax(x, dim=axis)
