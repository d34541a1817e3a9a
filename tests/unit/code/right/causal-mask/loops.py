import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("negative size")
    mask = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            if j <= i:
                mask[i, j] = True
    return mask
