import math

import numpy as np


def _check(Q, K, V, mask):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes of Q, K and V don't fit")
    if mask is not None and mask.shape[-2:] != (Q.shape[-2], K.shape[-2]):
        raise ValueError("shape of the mask doesn't fit")


def _weights(scores, mask):
    if mask is not None:
        scores = np.where(mask, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def sdpa(Q, K, V, mask=None, fill=-1e9):
    _check(Q, K, V, mask)
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.asarray(fill, scores.dtype))
    return _weights(scores, None) @ V


def sdpa_added(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores + (1 - mask.astype(scores.dtype)) * np.asarray(-1e9, scores.dtype)
    return _weights(scores, None) @ V


def sdpa_thousands(Q, K, V, mask=None):
    return sdpa(Q, K, V, mask, -1e4)


def sdpa_hundred(Q, K, V, mask=None):
    return sdpa(Q, K, V, mask, -100)


def sdpa_lowest(Q, K, V, mask=None):
    return sdpa(Q, K, V, mask, np.finfo(Q.dtype).min)
