import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("shapes")
    angle = positions[:, None] / base ** (np.arange(0, d, 2) / d)
    table = np.empty((n, d), x.dtype)
    table[:, 0::2], table[:, 1::2] = np.sin(angle), np.cos(angle)
    return x + table
