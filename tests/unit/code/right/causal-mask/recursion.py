import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("a mask of negative size")
    if n == 0:
        return np.empty((0, 0), dtype=np.bool_)
    return np.block([[causal_mask(n - 1), np.zeros((n - 1, 1), np.bool_)], [np.ones((1, n), np.bool_)]])
