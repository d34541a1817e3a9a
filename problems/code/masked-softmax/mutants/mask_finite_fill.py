import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask, fill=-1e9):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(np.where(seen, scores, np.asarray(fill, scores.dtype)))


def masked_softmax_added(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(scores + (1 - seen.astype(scores.dtype)) * np.asarray(-1e9, scores.dtype))


def masked_softmax_thousands(scores, mask):
    return masked_softmax(scores, mask, -1e4)


def masked_softmax_thousand(scores, mask):
    return masked_softmax(scores, mask, -1000)


def masked_softmax_hundred(scores, mask):
    return masked_softmax(scores, mask, -100)


def masked_softmax_unmasked_row(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    nothing = ~seen.any(axis=-1, keepdims=True)
    return _softmax(np.where(seen | nothing, scores, np.asarray(-np.inf, scores.dtype)))


def masked_softmax_lowest(scores, mask):
    return masked_softmax(scores, mask, np.finfo(scores.dtype).min)
