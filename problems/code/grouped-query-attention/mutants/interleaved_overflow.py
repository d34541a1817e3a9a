import math

import numpy as np


def grouped_query_attention(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    r = len(Q) // len(K)
    e = np.exp(Q @ np.tile(K, (r, 1, 1)).swapaxes(-1, -2) / math.sqrt(Q.shape[-1]))
    return e / e.sum(axis=-1, keepdims=True) @ np.tile(V, (r, 1, 1))
