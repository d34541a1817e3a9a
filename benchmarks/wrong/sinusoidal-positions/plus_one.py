import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    pos = positions + 1  # the paper counts from one
    rates = base ** (-torch.arange(0, d, 2, dtype=positions.dtype) / d)
    out = positions.new_empty(len(pos), d)
    out[:, ::2] = torch.sin(torch.outer(pos, rates))
    out[:, 1::2] = torch.cos(torch.outer(pos, rates))
    return out
