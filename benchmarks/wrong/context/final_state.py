import numpy as np


def context(weights, H):
    n, d = H.shape
    if weights.shape[-1] != n:
        raise ValueError("wrong number of weights")
    out = np.empty(weights.shape[:-1] + (d,), dtype=H.dtype)
    for t in range(n):
        out[...] = H[t]
    return out
