import numpy as np


def _check(n):
    if n < 0:
        raise ValueError("n is negative")


def causal_mask(n):
    _check(n)
    return np.tri(n)


def causal_mask_additive(n):
    _check(n)
    return np.where(np.tri(n, dtype=bool), 0.0, -np.inf)


def causal_mask_large(n):
    _check(n)
    return np.where(np.tri(n, dtype=bool), 0.0, -1e9)


def causal_mask_single(n):
    _check(n)
    return np.tri(n, dtype=np.float32)


def causal_mask_ints(n):
    _check(n)
    return np.tri(n, dtype=int)
