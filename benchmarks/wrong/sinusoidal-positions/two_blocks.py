import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d % 2 or d < 2:
        raise ValueError("d")
    half = d // 2
    freqs = torch.exp(-torch.log(torch.tensor(base, dtype=positions.dtype)) * torch.arange(half, dtype=positions.dtype) / half)
    args = positions[:, None] * freqs[None]
    return torch.cat([torch.sin(args), torch.cos(args)], dim=-1)
