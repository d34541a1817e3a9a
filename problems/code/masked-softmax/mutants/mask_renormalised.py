import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    w = _softmax(scores) * seen.astype(scores.dtype)
    total = w.sum(axis=-1, keepdims=True)
    return w / np.where(total == 0, 1, total)


def masked_softmax_nan(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    w = _softmax(scores) * seen.astype(scores.dtype)
    return w / w.sum(axis=-1, keepdims=True)


def masked_softmax_epsilon(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    w = _softmax(scores) * seen.astype(scores.dtype)
    tiny = np.asarray(1e-9, scores.dtype)
    return w / (w.sum(axis=-1, keepdims=True) + tiny)


def masked_softmax_maximum(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True)) * seen.astype(scores.dtype)  # the maximum of all
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)
