import numpy as np


def context(weights, H):
    if weights.shape[-1] != H.shape[0]:
        raise ValueError(f"{weights.shape[-1]} weights for {H.shape[0]} states")
    return np.matmul(weights, H)  # (..., n) times (n, d) sums over the states
