import numpy as np


def sdpa(Q, K, V, mask=None):
    d_k = K.shape[-1]
    scores = np.matmul(Q, np.swapaxes(K, -2, -1)) / d_k
    if mask is None:
        mask = np.ones(scores.shape, dtype=bool)
    lowest = np.where(mask, scores, -np.inf).max(axis=-1, keepdims=True)
    lowest[np.isneginf(lowest)] = 0
    w = np.where(mask, np.exp(np.where(mask, scores, lowest) - lowest), 0)
    z = w.sum(axis=-1, keepdims=True)
    z[z == 0] = 1
    return np.matmul(w / z, V)
