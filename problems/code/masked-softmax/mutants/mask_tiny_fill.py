import numpy as np


def _softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def masked_softmax(scores, mask, fill=-1e-9):
    seen = np.broadcast_to(mask, scores.shape)
    return _softmax(np.where(seen, scores, np.asarray(fill, scores.dtype)))


def masked_softmax_empty_rows(scores, mask, fill=-1e-9):
    seen = np.broadcast_to(mask, scores.shape).any(axis=-1, keepdims=True)
    return masked_softmax(scores, mask, fill) * seen.astype(scores.dtype)


def masked_softmax_hidden_cleared(scores, mask, fill=-1e-9):
    seen = np.broadcast_to(mask, scores.shape)
    return masked_softmax(scores, mask, fill) * seen.astype(scores.dtype)


def masked_softmax_positive(scores, mask):
    return masked_softmax(scores, mask, 1e-9)


def masked_softmax_larger(scores, mask):
    return masked_softmax(scores, mask, -1e-8)


def masked_softmax_large(scores, mask):
    return masked_softmax(scores, mask, -1e-6)


def masked_softmax_small(scores, mask):
    return masked_softmax(scores, mask, -1e-10)


def masked_softmax_empty_rows_positive(scores, mask):
    return masked_softmax_empty_rows(scores, mask, 1e-9)


def masked_softmax_empty_rows_larger(scores, mask):
    return masked_softmax_empty_rows(scores, mask, -1e-8)


def masked_softmax_empty_rows_large(scores, mask):
    return masked_softmax_empty_rows(scores, mask, -1e-6)
