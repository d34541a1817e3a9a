import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError("n")
    # True = masked out
    return np.triu(np.ones((n, n), dtype=bool), k=1)
