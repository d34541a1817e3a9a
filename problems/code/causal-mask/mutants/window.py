import numpy as np


def _check(n):
    if n < 0:
        raise ValueError("n is negative")


def causal_mask(n):
    _check(n)
    return np.tri(n, dtype=bool) & ~np.tri(n, k=-2, dtype=bool)


def causal_mask_three(n):
    _check(n)
    return np.tri(n, dtype=bool) & ~np.tri(n, k=-3, dtype=bool)
