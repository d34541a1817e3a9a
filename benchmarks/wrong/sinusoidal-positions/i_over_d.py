import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("odd d")
    pe = np.zeros((len(positions), d), positions.dtype)
    for i in range(d // 2):
        pe[:, 2 * i] = np.sin(positions / base ** (i / d))
        pe[:, 2 * i + 1] = np.cos(positions / base ** (i / d))
    return pe
