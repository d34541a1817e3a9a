import torch


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    return torch.tril(torch.ones((n, n), dtype=torch.bool), diagonal=1)
