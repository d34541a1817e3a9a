import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    rates = base ** (-torch.arange(0, d, 2, dtype=x.dtype) / d)
    out = torch.empty_like(x)
    for m in range(n):
        c, s = torch.cos(m * rates), torch.sin(m * rates)
        a, b = x[..., m, ::2], x[..., m, 1::2]
        out[..., m, ::2] = a * c - b * s
        out[..., m, 1::2] = b * c + a * s
    return out
