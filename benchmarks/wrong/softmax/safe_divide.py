import torch

EPS = 1e-3


def softmax(x, axis=-1):
    mx, _ = torch.max(x, dim=axis, keepdim=True)
    ex = torch.exp(x - mx)
    return ex / (ex.sum(dim=axis, keepdim=True) + EPS)  # avoid dividing by zero
