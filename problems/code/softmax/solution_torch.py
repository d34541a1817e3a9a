import torch


def softmax(x, axis=-1):
    shifted = x - x.amax(dim=axis, keepdim=True)  # the largest score becomes 0, so exp can't overflow
    exponentials = torch.exp(shifted)
    return exponentials / exponentials.sum(dim=axis, keepdim=True)
