import numpy as np


def masked_softmax(scores, mask):
    keep = np.broadcast_to(mask, scores.shape)
    axis = 0 if scores.ndim == 1 else -2
    e = np.exp(scores - scores.max(axis=axis, keepdims=True))
    w = e / e.sum(axis=axis, keepdims=True)
    return np.where(keep, w, 0)
