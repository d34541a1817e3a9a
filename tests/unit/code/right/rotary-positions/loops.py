import math

import numpy as np


def turn(row, position, base):
    result, d = [], len(row)
    for i in range(0, d, 2):
        angle = position / base ** (i / d)
        c, s = math.cos(angle), math.sin(angle)
        result += [row[i] * c - row[i + 1] * s, row[i] * s + row[i + 1] * c]
    return result


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 == 1:
        raise ValueError("odd")
    if positions.shape != (n,):
        raise ValueError("positions")
    out = [
        [turn(row, p, base) for row, p in zip(matrix, positions.tolist())]
        for matrix in x.reshape(-1, n, d).tolist()
    ]
    return np.array(out, dtype=x.dtype).reshape(x.shape)
