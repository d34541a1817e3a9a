import numpy as np


def _check(n):
    if n < 0:
        raise ValueError("n is negative")


def causal_mask(n):
    _check(n)
    return np.tri(n, k=-1)


def causal_mask_ints(n):
    _check(n)
    return np.tri(n, k=-1, dtype=int)


def causal_mask_additive(n):
    _check(n)
    return np.where(np.tri(n, k=-1, dtype=bool), 0.0, -np.inf)


def causal_mask_single(n):
    _check(n)
    return np.tri(n, k=-1, dtype=np.float32)
