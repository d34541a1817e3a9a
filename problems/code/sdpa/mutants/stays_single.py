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


def sdpa(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    Q, K, V = (array.astype(np.float32) for array in (Q, K, V))
    return _weights(Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1]), mask) @ V
