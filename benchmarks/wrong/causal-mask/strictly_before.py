import torch


def causal_mask(n):
    if n < 0:
        raise ValueError("negative size")
    positions = torch.arange(n)
    return positions.unsqueeze(0) < positions.unsqueeze(1)
