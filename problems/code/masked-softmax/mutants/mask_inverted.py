import numpy as np


def _weights(x, seen, axis=-1):
    x = np.where(seen, x, np.asarray(-np.inf, x.dtype))
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _weights(scores, ~seen)


def masked_softmax_finite_fill(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    w = _softmax(np.where(seen, np.asarray(-1e9, scores.dtype), scores))
    return w
