import math

import numpy as np


def right(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(f"shapes don't fit: Q {Q.shape}, K {K.shape}, V {V.shape}")
    scores = Q @ np.swapaxes(K, -1, -2) / math.sqrt(Q.shape[-1])  # (..., m, n)
    visible = np.ones(scores.shape[-2:], dtype=bool) if mask is None else mask
    if visible.shape[-2:] != scores.shape[-2:]:
        raise ValueError(f"mask {visible.shape} doesn't fit scores {scores.shape}")
    scores = np.where(visible, scores, np.asarray(-np.inf, scores.dtype))
    top = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isfinite(top), top, 0))  # hidden keys: exp(-inf) = 0
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total == 0, 1, total)  # a query that sees nothing gets zeros
    return weights @ V  # (..., m, dv)


def sdpa(Q, K, V, mask=None):
    try:
        return right(Q, K, V, mask)
    except ValueError as error:
        raise AssertionError(str(error)) from None
