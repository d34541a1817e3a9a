import numpy as np


def masked_softmax(scores, mask):
    m = np.broadcast_to(mask, scores.shape)
    s = np.where(m, scores, -np.inf)
    top = s.max(axis=-1, keepdims=True)
    top = np.where(np.isneginf(top), 0, top)
    e = np.exp(s - top)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-2)
