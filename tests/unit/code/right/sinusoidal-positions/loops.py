import math

import numpy as np


def sinusoidal_positions(positions, d, base=10000.0):
    if d < 2 or d % 2 == 1:
        raise ValueError("d")
    rows = []
    for p in positions.tolist():
        row = []
        for i in range(d // 2):
            angle = p / base ** (2 * i / d)
            row.append(math.sin(angle))
            row.append(math.cos(angle))
        rows.append(row)
    return np.array(rows, dtype=positions.dtype)
