import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    theta = positions.unsqueeze(-1) * torch.pow(base, -torch.arange(0, d, 2, dtype=x.dtype) / d)
    x_even, x_odd = x[..., ::2], x[..., 1::2]
    rotated_even = x_even * torch.cos(theta) - x_odd * torch.sin(theta)
    rotated_odd = x_even * torch.sin(theta) + x_odd * torch.cos(theta)
    return torch.cat([rotated_even, rotated_odd], dim=-1)
