import numpy as np


def grouped_query_attention(Q, K, V):
    per = Q.shape[0] // K.shape[0]
    if per * K.shape[0] != Q.shape[0] or V.shape[:2] != K.shape[:2]:
        raise ValueError("sizes")
    result = np.empty((*Q.shape[:2], V.shape[2]), Q.dtype)
    for head in range(Q.shape[0]):
        weights = np.exp(Q[head] @ K[head // per].T / Q.shape[2] ** 0.5)
        result[head] = (weights / weights.sum(axis=1, keepdims=True)) @ V[head // per]
    return result
