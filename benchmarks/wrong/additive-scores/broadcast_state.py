import numpy as np


def additive_scores(s, H, W, U, v):
    if H.shape[1] != U.shape[1] or U.shape[0] != W.shape[0]:
        raise ValueError("sizes")
    score = v @ np.tanh(W @ s)
    return np.full(H.shape[0], score, dtype=H.dtype)
