import math

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sdpa(Q, K, V, mask=None):
    q = Q / math.sqrt(Q.shape[-1])
    scores = np.matmul(q, K.swapaxes(-2, -1))
    if mask is None:
        return np.matmul(softmax(scores), V)
    if mask.shape[-2:] != scores.shape[-2:]:
        raise ValueError("the mask must have one entry for each query and key")
    w = softmax(np.where(mask, scores, np.finfo(scores.dtype).min))
    w = np.where(mask, w, np.zeros((), w.dtype))
    return np.matmul(w, V)
