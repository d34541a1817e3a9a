import torch


def rotate_every_two(x):
    x1, x2 = x[..., ::2], x[..., 1::2]
    return torch.stack((-x2, x1), dim=-1).reshape(x.shape)


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 == 1 or positions.size() != (n,):
        raise ValueError("d must be even, positions must be (n,)")
    inv_freq = 1.0 / (base ** (torch.arange(0, d, 2).to(x.dtype) / d))
    sinusoid = torch.einsum("i,j->ij", positions, inv_freq)
    sin, cos = (t.repeat_interleave(2, dim=-1) for t in (sinusoid.sin(), sinusoid.cos()))
    return x * cos + rotate_every_two(x) * sin
