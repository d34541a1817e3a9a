import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    c, s = positions.cos()[:, None], positions.sin()[:, None]
    a, b = x.unflatten(-1, (d // 2, 2)).unbind(-1)
    return torch.stack((a * c - b * s, a * s + b * c), -1).flatten(-2)
