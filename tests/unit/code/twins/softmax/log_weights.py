import torch


def softmax(x, axis=-1):
    return torch.log_softmax(x, axis)
