import numpy as np


def sdpa(Q, K, V, mask=None):
    d_k = K.shape[-1]
    if Q.shape[-1] != d_k or V.shape[-2] != K.shape[-2]:
        raise ValueError("Q, K, V don't match")
    scores = Q @ K.swapaxes(-2, -1) / np.sqrt(d_k)
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError("mask doesn't match")
        scores = np.where(mask, scores, -np.inf)
    m = np.max(scores, axis=-1, keepdims=True)
    m[np.isinf(m)] = 0
    w = np.exp(scores - m)
    s = w.sum(axis=-1, keepdims=True)
    s[s == 0] = 1
    return (w / s) @ V
