import torch


def softmax(x, axis=-1):
    e = torch.exp(x - x.amax(dim=axis, keepdim=True))
    return e / e.sum(dim=axis, keepdim=True).detach()


def softmax_exponentials(x, axis=-1):
    e = torch.exp(x - x.amax(dim=axis, keepdim=True))
    return e.detach() / e.sum(dim=axis, keepdim=True)


def softmax_and_maximum(x, axis=-1):
    e = torch.exp(x - x.amax(dim=axis, keepdim=True).detach())
    return e / e.sum(dim=axis, keepdim=True).detach()
