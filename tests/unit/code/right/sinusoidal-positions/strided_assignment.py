import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d % 2 != 0 or d <= 0:
        raise ValueError(f"{d} is no even number of columns")
    encoding = np.zeros((positions.shape[0], d), dtype=positions.dtype)
    divisor = np.power(base, np.arange(0, d, 2) / d)
    encoding[:, 0::2] = np.sin(positions[:, np.newaxis] / divisor)
    encoding[:, 1::2] = np.cos(positions[:, np.newaxis] / divisor)
    return encoding
