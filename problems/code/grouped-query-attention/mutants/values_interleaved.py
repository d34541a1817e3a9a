import math

import numpy as np


def _attend(Q, K, V):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


def _check(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    return len(Q) // len(K)


def grouped_query_attention(Q, K, V):
    r = _check(Q, K, V)
    return _attend(Q, np.repeat(K, r, axis=0), np.tile(V, (r, 1, 1)))


def grouped_query_attention_keys(Q, K, V):
    r = _check(Q, K, V)
    return _attend(Q, np.tile(K, (r, 1, 1)), np.repeat(V, r, axis=0))
