import math

import numpy as np


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes")
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError("mask")
        scores = np.where(mask, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=-2, keepdims=True)
    e = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = e.sum(axis=-2, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    return weights @ V
