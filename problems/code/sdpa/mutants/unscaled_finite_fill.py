import numpy as np


def _check(Q, K, V, mask):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes of Q, K and V don't fit")
    if mask is not None and mask.shape[-2:] != (Q.shape[-2], K.shape[-2]):
        raise ValueError("shape of the mask doesn't fit")


def _weights(scores, seen, axis=-1):
    if seen is not None:
        scores = np.where(seen, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=axis, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=axis, keepdims=True)
    return e / np.where(total == 0, 1, total)


def sdpa(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, np.asarray(-1e9, scores.dtype))
    weights = _weights(scores, None)
    return weights @ V


def sdpa_1(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, np.asarray(-1e4, scores.dtype))
    weights = _weights(scores, None)
    return weights @ V


def sdpa_2(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    scores = Q @ np.swapaxes(K, -1, -2)
    if mask is not None:
        scores = np.where(mask, scores, np.asarray(-100, scores.dtype))
    weights = _weights(scores, None)
    return weights @ V
