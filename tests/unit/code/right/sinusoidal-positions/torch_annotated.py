import math

import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d % 2 or d < 2:
        raise ValueError("d must be even")
    pe = torch.zeros(len(positions), d, dtype=positions.dtype)
    position = positions.unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d, 2, dtype=positions.dtype) * -(math.log(base) / d))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe
