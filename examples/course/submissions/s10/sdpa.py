import math

import numpy as np


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes")
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError("mask")
        scores = np.where(mask, np.asarray(-1e9, scores.dtype), scores)  # True = masked out
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ V
