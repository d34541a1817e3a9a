import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    mask = np.zeros((n, n))
    mask[np.triu_indices(n, 1)] = -np.inf
    return mask
