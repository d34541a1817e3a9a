import numpy as np


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.where(seen, np.exp(scores), np.asarray(0, scores.dtype))
    return e / e.sum(axis=-1, keepdims=True)


def masked_softmax_product(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.exp(scores) * seen.astype(scores.dtype)
    return e / e.sum(axis=-1, keepdims=True)
