import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes")
    scores = Q @ K.swapaxes(-1, -2)
    if mask is None:
        return softmax(scores) @ V
    if mask.shape[-2:] != scores.shape[-2:]:
        raise ValueError("mask shape")
    weights = softmax(np.where(mask, scores, np.finfo(scores.dtype).min))
    return np.where(mask, weights, 0).astype(V.dtype) @ V
