import torch


def softmax(x, axis=-1):
    return torch.softmax(0 * x, axis)
