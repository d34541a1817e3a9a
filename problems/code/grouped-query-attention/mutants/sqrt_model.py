import math

import numpy as np


def grouped_query_attention(Q, K, V, heads=None):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    h, g = len(Q), len(K)
    K, V = (np.repeat(X, h // g, axis=0) for X in (K, V))
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1] * (heads or h))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


def grouped_query_attention_group(Q, K, V):
    return grouped_query_attention(Q, K, V, len(Q) // len(K))
