import math

import numpy as np


def _check(Q, K, V, mask):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes of Q, K and V don't fit")
    if mask is not None and mask.shape[-2:] != (Q.shape[-2], K.shape[-2]):
        raise ValueError("shape of the mask doesn't fit")


def _filled(Q, K, mask, fill):
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, np.asarray(fill, scores.dtype))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def sdpa(Q, K, V, mask=None, fill=-1e9):
    _check(Q, K, V, mask)
    weights = _filled(Q, K, mask, fill)
    if mask is not None:
        weights = weights * mask.any(axis=-1, keepdims=True).astype(weights.dtype)
    return weights @ V


def sdpa_hidden_cleared(Q, K, V, mask=None, fill=-1e9):
    _check(Q, K, V, mask)
    weights = _filled(Q, K, mask, fill)
    if mask is not None:
        weights = weights * mask.astype(weights.dtype)
    return weights @ V


def sdpa_thousands(Q, K, V, mask=None):
    return sdpa(Q, K, V, mask, -1e4)


def sdpa_hundred_thousands(Q, K, V, mask=None):
    return sdpa(Q, K, V, mask, -1e5)


def sdpa_hidden_cleared_thousands(Q, K, V, mask=None):
    return sdpa_hidden_cleared(Q, K, V, mask, -1e4)


def sdpa_hidden_cleared_hundred_thousands(Q, K, V, mask=None):
    return sdpa_hidden_cleared(Q, K, V, mask, -1e5)
