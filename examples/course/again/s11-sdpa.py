import numpy as np


def sdpa(Q, K, V, mask=None):
    """Attention of queries to keys."""
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"keys and values: {K.shape[-2]}, {V.shape[-2]}")
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"queries and keys: {Q.shape[-1]}, {K.shape[-1]}")
    scores = (Q * Q.shape[-1] ** -0.5) @ np.moveaxis(K, -1, -2)
    if mask is None:
        mask = np.ones(scores.shape[-2:], bool)
    if mask.shape[-2:] != scores.shape[-2:]:
        raise ValueError("the mask doesn't fit")
    low = np.asarray(np.finfo(scores.dtype).min, scores.dtype)
    weights = rows(np.where(mask, scores, low)) * mask.astype(scores.dtype)
    return weights @ V


def rows(scores):
    scores = scores - scores.max(-1, keepdims=True)
    powers = np.exp(scores)
    return powers / powers.sum(-1, keepdims=True)
