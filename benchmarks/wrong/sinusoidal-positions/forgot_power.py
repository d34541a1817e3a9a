import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    div = np.exp(np.arange(0, d, 2) * -(1 / d))
    pe = np.zeros((positions.size, d))
    pe[:, 0::2] = np.sin(positions[:, None] * div)
    pe[:, 1::2] = np.cos(positions[:, None] * div)
    return pe.astype(positions.dtype)
