import numpy as np


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    axis = 0 if scores.ndim == 1 else -2  # down the columns
    low = np.where(mask, scores, -np.inf)
    top = low.max(axis=axis, keepdims=True)
    top = np.where(np.isneginf(top), 0, top)
    e = np.exp(low - top)
    z = e.sum(axis=axis, keepdims=True)
    return e / np.where(z == 0, 1, z)
