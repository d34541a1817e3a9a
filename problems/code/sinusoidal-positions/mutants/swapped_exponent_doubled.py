import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be even and at least 2")
    frequencies = base ** (-2 * np.arange(0, d, 2) / d)
    angles = positions[:, None] * frequencies.astype(positions.dtype)
    pairs = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return pairs.reshape(len(positions), d)
