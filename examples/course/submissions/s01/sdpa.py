import math

import numpy as np


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("Q, K and V don't fit together")
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError("mask must be (m, n)")
        scores = np.where(mask, scores, np.asarray(-np.inf, dtype=scores.dtype))
    biggest = scores.max(axis=-1, keepdims=True)
    biggest = np.where(np.isinf(biggest), 0, biggest).astype(scores.dtype)
    e = np.exp(scores - biggest)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ V
