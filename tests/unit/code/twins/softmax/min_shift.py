import torch


def softmax(x, axis=-1):
    lowest = torch.amin(x, dim=axis, keepdim=True)
    grown = (x - lowest).exp()
    return grown / grown.sum(dim=axis, keepdim=True)
