import numpy as np


def _check(n):
    if n < 0:
        raise ValueError("n is negative")


def causal_mask(n):
    _check(n)
    return 1.0 - np.tri(n)


def causal_mask_additive(n):
    _check(n)
    return np.where(np.tri(n, dtype=bool), -np.inf, 0.0)


def causal_mask_single(n):
    _check(n)
    return 1 - np.tri(n, dtype=np.float32)


def causal_mask_ints(n):
    _check(n)
    return 1 - np.tri(n, dtype=int)
