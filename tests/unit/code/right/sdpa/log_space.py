import numpy as np


def sdpa(Q, K, V, mask=None):
    d = np.asarray(Q.shape[-1], dtype=Q.dtype)
    scores = Q @ K.swapaxes(-1, -2) / np.sqrt(d)
    if mask is not None:
        scores = np.where(mask, scores, scores.dtype.type(-np.inf))
    log_total = np.logaddexp.reduce(scores, axis=-1, keepdims=True)
    empty = np.isneginf(log_total)
    weights = np.exp(scores - np.where(empty, scores.dtype.type(0), log_total))
    return weights @ V
