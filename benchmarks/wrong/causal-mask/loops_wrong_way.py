import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n must not be negative")
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(i, n):
            mask[i, j] = True
    return mask
