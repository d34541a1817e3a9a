from math import fsum

import numpy as np


def context(weights, H):
    n, d = H.shape
    if weights.shape[-1] != n:
        raise ValueError("weights and states don't match")
    c = np.empty(weights.shape[:-1] + (d,), dtype=H.dtype)
    for at in np.ndindex(weights.shape[:-1]):
        for k in range(d):
            c[at + (k,)] = fsum(float(weights[at + (j,)]) * float(H[j, k]) for j in range(n))
    return c
