import numpy as np


def column(positions, j, d, base):
    angle = positions / positions.dtype.type(base ** ((j - j % 2) / d))
    return np.cos(angle) if j % 2 else np.sin(angle)


def sinusoidal_positions(positions, d, base=10000.0):
    if d % 2 or d < 2:
        raise ValueError("columns come in pairs")
    return np.column_stack([column(positions, j, d, base) for j in range(d)])
