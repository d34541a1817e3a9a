import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(np.where(seen, scores, np.asarray(-np.inf, scores.dtype)))
