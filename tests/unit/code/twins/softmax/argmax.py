import torch


def softmax(x, axis=-1):
    best = x.argmax(axis, keepdim=True)
    return torch.zeros_like(x).scatter(axis, best, 1.0)
