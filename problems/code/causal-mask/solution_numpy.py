import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError(f"n is {n}")
    return np.tri(n, dtype=bool)
