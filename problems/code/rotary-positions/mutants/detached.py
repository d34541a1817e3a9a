import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d must be even, and every row needs one position")
    frequencies = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angles = positions[:, None] * frequencies
    cos, sin = torch.cos(angles), torch.sin(angles)
    first, second = x[..., 0::2], x[..., 1::2].detach()
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)


def rotary_positions_1(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d must be even, and every row needs one position")
    frequencies = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    angles = positions[:, None] * frequencies
    cos, sin = torch.cos(angles), torch.sin(angles)
    first, second = x[..., 0::2].detach(), x[..., 1::2]
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2)
