import numpy as np


def _check(n):
    if n < 0:
        raise ValueError("n is negative")


def causal_mask(n):
    _check(n)
    return np.tri(n, k=1, dtype=bool)
