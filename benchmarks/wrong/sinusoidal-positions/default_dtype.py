import torch


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    pe = torch.zeros(len(positions), d)
    rates = torch.pow(base, -torch.arange(0, d, 2) / d)
    pe[:, 0::2] = torch.sin(positions[:, None] * rates)
    pe[:, 1::2] = torch.cos(positions[:, None] * rates)
    return pe
