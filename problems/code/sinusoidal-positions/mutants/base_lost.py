import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be even and at least 2")
    frequencies = np.exp(-np.arange(0, d, 2) / d)
    angles = positions[:, None] * frequencies.astype(positions.dtype)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(len(positions), d)


def sinusoidal_positions_1(positions, d, base=10000.0):
    if d < 2 or d % 2:
        raise ValueError("d must be even and at least 2")
    frequencies = np.exp(-np.log10(base) * np.arange(0, d, 2) / d)
    angles = positions[:, None] * frequencies.astype(positions.dtype)
    pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)
    return pairs.reshape(len(positions), d)
