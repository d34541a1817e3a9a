import torch


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    return torch.triu(torch.ones(n, n), diagonal=1)
