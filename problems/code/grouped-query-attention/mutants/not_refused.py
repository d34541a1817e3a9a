import math

import numpy as np


def grouped_query_attention(Q, K, V):
    h, g = len(Q), len(K)
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2]:
        raise ValueError("shapes don't fit")
    group = np.minimum(np.arange(h) // max(1, h // g), g - 1)
    s = Q @ K[group].swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V[group]


def grouped_query_attention_dropped(Q, K, V):
    return grouped_query_attention(Q[: len(Q) // len(K) * len(K)], K, V)


def grouped_query_attention_spread(Q, K, V):
    h, g = len(Q), len(K)
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2]:
        raise ValueError("shapes don't fit")
    group = np.arange(h) * g // h
    s = Q @ K[group].swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V[group]
