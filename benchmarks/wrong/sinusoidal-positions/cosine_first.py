import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d % 2 or d < 2:
        raise ValueError("d")
    result = np.empty((len(positions), d), positions.dtype)
    for i in range(0, d, 2):
        angle = positions / base ** (i / d)
        result[:, i] = np.cos(angle)
        result[:, i + 1] = np.sin(angle)
    return result
