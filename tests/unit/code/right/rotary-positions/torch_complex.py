import torch


def rotary_positions(x, positions, base=10000.0):
    if x.shape[-1] % 2 or positions.shape != x.shape[-2:-1]:
        raise ValueError("shapes")
    freqs = base ** (-torch.arange(0, x.shape[-1], 2, dtype=x.dtype) / x.shape[-1])
    angles = torch.outer(positions, freqs)
    turn = torch.polar(torch.ones_like(angles), angles)
    pairs = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    return torch.view_as_real(pairs * turn).flatten(-2)
