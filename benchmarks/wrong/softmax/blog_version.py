import torch

# from the "attention from scratch" blog


def softmax(x, axis=-1):
    x_exp = torch.exp(x)
    partition = x_exp.sum(dim=axis, keepdim=True)
    return x_exp / partition  # broadcasting happens here
