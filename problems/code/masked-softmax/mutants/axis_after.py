import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(scores, 0) * seen.astype(scores.dtype)


def masked_softmax_queries(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(scores, -2 if scores.ndim > 1 else -1) * seen.astype(scores.dtype)
