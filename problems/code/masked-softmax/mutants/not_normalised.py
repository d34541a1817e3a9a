import numpy as np


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    x = np.where(seen, scores, np.asarray(-np.inf, scores.dtype))
    top = x.max(axis=-1, keepdims=True)
    return np.exp(x - np.where(np.isfinite(top), top, 0))


def masked_softmax_unshifted(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return np.where(seen, np.exp(scores), np.asarray(0, scores.dtype))
