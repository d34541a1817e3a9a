import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask, fill=-1e-9):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(np.where(seen, scores, np.asarray(fill, scores.dtype)))


def masked_softmax_positive(scores, mask):
    return masked_softmax(scores, mask, 1e-9)


def masked_softmax_larger(scores, mask):
    return masked_softmax(scores, mask, -1e-8)


def masked_softmax_large(scores, mask):
    return masked_softmax(scores, mask, -1e-6)
