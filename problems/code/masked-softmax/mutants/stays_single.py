import numpy as np


def _weights(x, seen, axis=-1):
    x = np.where(seen, x, np.asarray(-np.inf, x.dtype))
    top = x.max(axis=axis, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _weights(scores.astype(np.float32), seen)
