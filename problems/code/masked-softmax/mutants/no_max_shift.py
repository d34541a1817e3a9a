import numpy as np


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.exp(scores) * seen.astype(scores.dtype)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def masked_softmax_where(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.where(seen, np.exp(scores), np.asarray(0, scores.dtype))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def masked_softmax_underflow(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.where(seen, np.exp(scores), np.asarray(0, scores.dtype))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(seen.any(axis=-1, keepdims=True), total, 1)
