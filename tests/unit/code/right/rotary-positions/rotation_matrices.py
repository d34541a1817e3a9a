import numpy as np


def rotary_positions(x, positions, base=10000.0):
    n, d = x.shape[-2:]
    if d % 2 or positions.shape != (n,):
        raise ValueError("d or positions")
    rotations = np.zeros((n, d, d))
    for k in range(n):
        for i in range(d // 2):
            a = float(positions[k]) * base ** (-2 * i / d)
            block = [[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]
            rotations[k, 2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = block
    return np.einsum("nij,...nj->...ni", rotations.astype(x.dtype), x)
