import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    scale = base ** (torch.arange(0, d, 2, dtype=positions.dtype) / d)
    x = positions[:, None] * scale
    return torch.stack([torch.sin(x), torch.cos(x)], dim=2).flatten(start_dim=1)
