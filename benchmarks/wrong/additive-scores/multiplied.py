import numpy as np


def additive_scores(s, H, W, U, v):
    a = W @ s
    e = np.empty(H.shape[0], dtype=H.dtype)
    for j in range(H.shape[0]):
        e[j] = v @ np.tanh(a * (U @ H[j]))
    return e
