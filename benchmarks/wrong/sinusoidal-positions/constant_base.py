import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    i = torch.arange(d // 2).to(positions)
    angle = positions.unsqueeze(-1) / torch.pow(10_000, 2 * i / d)
    return torch.stack((angle.sin(), angle.cos()), -1).reshape(-1, d)
