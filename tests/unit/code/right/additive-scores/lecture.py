import numpy as np


def additive_scores(s, H, W, U, v):
    if W.shape[0] != U.shape[0]:
        raise ValueError("W and U must have the same number of rows")
    e = np.zeros(len(H), dtype=H.dtype)
    for j in range(len(H)):
        e[j] = v.T @ np.tanh(W @ s + U @ H[j])
    return e
