import numpy as np


def additive_scores(s, H, W, U, v):
    da, ds = W.shape
    n, dh = H.shape
    if s.shape != (ds,) or U.shape != (da, dh) or v.shape != (da,):
        raise ValueError("sizes don't fit")
    return np.tanh(W @ s + H @ U.T) @ v
