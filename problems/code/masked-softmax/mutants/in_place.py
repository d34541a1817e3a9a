import numpy as np


def _weights(x, seen, axis=-1):
    x = np.where(seen, x, np.asarray(-np.inf, x.dtype))
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    scores[~seen] = -np.inf
    return _weights(scores, seen)


def masked_softmax_shifted(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    scores -= scores.max(axis=-1, keepdims=True)
    return _weights(scores, seen)


def masked_softmax_multiplied(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    scores *= seen
    return _weights(scores, seen)
