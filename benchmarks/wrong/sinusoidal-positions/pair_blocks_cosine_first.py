import torch


def sinusoidal_positions(positions, d, base=10000.0):
    """As in diffusion models."""
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    half = torch.arange(d // 2, dtype=positions.dtype) / (d // 2)
    args = positions[:, None] * torch.pow(base, -half)
    return torch.cat([args.cos(), args.sin()], dim=1)
