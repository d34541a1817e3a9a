import torch


def softmax(x, axis=-1):
    return torch.exp(x - torch.logsumexp(x, dim=axis, keepdim=True))
