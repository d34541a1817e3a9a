import math

import numpy as np


def _attend(Q, K, V):
    s = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


def grouped_query_attention(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    dtype, r = Q.dtype, len(Q) // len(K)
    Q, K, V = (X.astype(np.float32) for X in (Q, K, V))
    return _attend(Q, np.repeat(K, r, axis=0), np.repeat(V, r, axis=0)).astype(dtype)


def grouped_query_attention_weights(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    K, V = (np.repeat(X, len(Q) // len(K), axis=0) for X in (K, V))
    s = (Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])).astype(np.float32)
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True)).astype(V.dtype) @ V
