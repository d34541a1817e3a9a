import math

import numpy as np


def _attend(Q, K, V):
    s = Q @ K.swapaxes(-1, -2)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


def grouped_query_attention(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    Q /= math.sqrt(Q.shape[-1])
    return _attend(Q, *(np.repeat(X, len(Q) // len(K), axis=0) for X in (K, V)))


def grouped_query_attention_keys(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    K /= math.sqrt(Q.shape[-1])
    return _attend(Q, *(np.repeat(X, len(Q) // len(K), axis=0) for X in (K, V)))
