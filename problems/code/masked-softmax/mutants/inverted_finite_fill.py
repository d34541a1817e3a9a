import numpy as np


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(scores + seen.astype(scores.dtype) * np.asarray(-1e9, scores.dtype))


def masked_softmax_filled(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(np.where(seen, np.asarray(-1e9, scores.dtype), scores))
