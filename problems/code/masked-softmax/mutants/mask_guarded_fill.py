import numpy as np


def _softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def masked_softmax(scores, mask, fill=-1e9):
    seen = np.broadcast_to(mask, scores.shape)
    weights = _softmax(np.where(seen, scores, np.asarray(fill, scores.dtype)))
    return weights * seen.any(axis=-1, keepdims=True).astype(scores.dtype)


def masked_softmax_hidden_cleared(scores, mask, fill=-1e9):
    seen = np.broadcast_to(mask, scores.shape)
    weights = _softmax(np.where(seen, scores, np.asarray(fill, scores.dtype)))
    return weights * seen.astype(scores.dtype)


def masked_softmax_thousands(scores, mask):
    return masked_softmax(scores, mask, -1e4)


def masked_softmax_hundred_thousands(scores, mask):
    return masked_softmax(scores, mask, -1e5)


def masked_softmax_hidden_cleared_thousands(scores, mask):
    return masked_softmax_hidden_cleared(scores, mask, -1e4)


def masked_softmax_hidden_cleared_hundred_thousands(scores, mask):
    return masked_softmax_hidden_cleared(scores, mask, -1e5)
