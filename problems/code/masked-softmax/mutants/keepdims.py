import numpy as np


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    x = np.where(seen, scores, np.asarray(-np.inf, scores.dtype))
    top = x.max(axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1)
    return e / np.where(total == 0, 1, total)


def masked_softmax_both(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    x = np.where(seen, scores, np.asarray(-np.inf, scores.dtype))
    top = x.max(axis=-1)
    e = np.exp(x - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1)
    return e / np.where(total == 0, 1, total)


def masked_softmax_nan(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    x = np.where(seen, scores, np.asarray(-np.inf, scores.dtype))
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)
