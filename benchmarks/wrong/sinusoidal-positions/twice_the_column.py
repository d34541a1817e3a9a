import math

import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("odd d")
    pe = np.zeros((len(positions), d), positions.dtype)
    for row, pos in enumerate(positions):
        for i in range(0, d, 2):
            pe[row, i] = math.sin(pos / base ** (2 * i / d))
            pe[row, i + 1] = math.cos(pos / base ** (2 * i / d))
    return pe
