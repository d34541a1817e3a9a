import torch


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    ones = torch.ones(n, n, dtype=torch.bool)
    return ones.tril() & ones.triu(-1)
