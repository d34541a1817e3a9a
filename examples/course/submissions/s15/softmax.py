import torch


def softmax(x, axis=-1):
    e = torch.exp(x - x.max(dim=axis, keepdim=True).values)
    return e / (e.sum(dim=axis, keepdim=True) + 1e-8)  # never divide by zero
