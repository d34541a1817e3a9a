import torch


def softmax(x, axis=-1):
    y = x.float()
    y = y - y.amax(dim=axis, keepdim=True)
    y = y.exp()
    y = y / y.sum(dim=axis, keepdim=True)
    return y.to(x.dtype)
