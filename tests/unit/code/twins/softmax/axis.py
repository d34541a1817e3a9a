import torch


def softmax(x, axis=0):
    return torch.softmax(x, axis)
