import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be even and at least 2")
    exponents = (
        torch.arange(0, d, 2, dtype=positions.dtype) / d
    )  # one for each pair of columns: 2i is 0, 2, 4, ...
    angles = positions[:, None] * base**-exponents
    pairs = torch.stack([torch.sin(angles), torch.cos(angles)], dim=-1)
    return pairs.flatten(1)  # sine and cosine of a pair stand side by side
