import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if not (d > 0 and d % 2 == 0):
        raise ValueError(d)
    column = np.arange(d)
    even = column - column % 2
    angles = positions.reshape(-1, 1) / (base ** (even / d)).astype(positions.dtype)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))
