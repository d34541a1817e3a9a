import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be even and at least 2")
    frequencies = base ** (-np.arange(0, d, 2) / d)
    angles = positions[:, None] * frequencies.astype(positions.dtype)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
