import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    rates = np.array([base ** -(i / d) for i in range(d // 2)], dtype=positions.dtype)
    x = np.multiply.outer(positions + 1, rates)
    out = np.zeros((len(positions), d), dtype=positions.dtype)
    out[:, range(0, d, 2)], out[:, range(1, d, 2)] = np.sin(x), np.cos(x)
    return out
