import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d & 1:
        raise ValueError("an even d, please")
    angles = np.outer(positions, np.exp(-np.log(base) * np.arange(d // 2) * 2 / d))
    circle = 1j * np.exp(-1j * angles)  # sine as the real part, cosine as the imaginary one
    return np.ascontiguousarray(circle).view(float).astype(positions.dtype)
