import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    theta = positions[:, None] * base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    c, s = theta.cos(), theta.sin()
    rotation = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
    pairs = x.reshape(*x.shape[:-1], d // 2, 2, 1)
    return (rotation @ pairs).reshape(x.shape)
