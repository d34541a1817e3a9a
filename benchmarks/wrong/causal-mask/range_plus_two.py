import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    visible = np.zeros((n, n), dtype=np.bool_)
    for row in range(n):
        visible[row, : row + 2] = True
    return visible
