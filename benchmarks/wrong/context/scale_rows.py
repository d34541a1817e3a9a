import numpy as np


def context(weights, H):
    if weights.shape[-1] != H.shape[0]:
        raise ValueError("sizes differ")
    out = np.zeros(weights.shape[:-1] + (H.shape[1],), dtype=H.dtype)
    original = H.copy()
    for index in np.ndindex(*weights.shape[:-1]):
        for j in range(H.shape[0]):
            H[j] = original[j] * weights[index][j]
        out[index] = H.sum(axis=0)
    return out
