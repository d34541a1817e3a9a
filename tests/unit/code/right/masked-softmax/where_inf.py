import numpy as np


def masked_softmax(scores, mask):
    if np.broadcast_shapes(scores.shape, np.shape(mask)) != scores.shape:
        raise ValueError("mask must broadcast to the scores")
    x = np.where(mask, scores, np.array(-np.inf, dtype=scores.dtype))
    with np.errstate(invalid="ignore"):
        x = x - x.max(axis=-1, keepdims=True)
        e = np.exp(x)
        w = e / e.sum(axis=-1, keepdims=True)
    return np.where(np.isnan(w), np.zeros_like(w), w)
