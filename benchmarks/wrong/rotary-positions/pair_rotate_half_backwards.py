import torch


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    theta = base ** (-2 * torch.arange(d // 2, dtype=x.dtype) / d)
    angle = torch.einsum("n,f->nf", positions, theta)
    left, right = x.split(d // 2, dim=-1)
    c, s = angle.cos(), angle.sin()
    return torch.cat([left * c + right * s, right * c - left * s], dim=-1)
