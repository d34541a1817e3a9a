import torch


def causal_mask(n):
    if n < 0:
        raise ValueError("n must be at least 0")
    i = torch.arange(n)
    return torch.ge(i.unsqueeze(1), i.unsqueeze(0))
