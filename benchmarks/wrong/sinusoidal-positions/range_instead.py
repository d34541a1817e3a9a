import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    n = positions.shape[0]
    pos = np.arange(n)[:, None]
    i = np.arange(d)[None, :]
    table = pos / np.power(base, (2 * (i // 2)) / d)
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return table.astype(positions.dtype)
