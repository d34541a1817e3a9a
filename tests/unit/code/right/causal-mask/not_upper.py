import numpy as np


def causal_mask(n):
    future = np.triu(np.full((n, n), True), k=1)
    return np.logical_not(future)
