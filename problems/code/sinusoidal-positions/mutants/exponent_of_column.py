import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be even and at least 2")
    frequencies = base ** (-np.arange(d) / d)
    angles = positions[:, None] * frequencies.astype(positions.dtype)
    pairs = np.where(np.arange(d) % 2 == 0, np.sin(angles), np.cos(angles))
    return pairs.reshape(len(positions), d)
