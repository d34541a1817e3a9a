import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n must not be negative")
    return np.tri(n, dtype=bool)
