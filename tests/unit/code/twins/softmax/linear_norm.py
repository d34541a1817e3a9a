import torch


def softmax(x, axis=-1):
    total = torch.zeros_like(x.select(axis, 0))
    for part in x.unbind(axis):
        total = total + part
    return x / total.unsqueeze(axis)
