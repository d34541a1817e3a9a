import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d must be even")
    pe = np.zeros((len(positions), d))
    rates = base ** (-np.arange(0, d, 2) / d)
    pe[:, 0::2] = np.sin(positions[:, None] * rates)
    pe[:, 1::2] = np.cos(positions[:, None] * rates)
    return pe
