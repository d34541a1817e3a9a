import numpy as np


def grouped_query_attention(Q, K, V):
    if Q.shape[0] % K.shape[0] or K.shape[:2] != V.shape[:2]:
        raise ValueError("sizes")
    rep = Q.shape[0] // K.shape[0]
    keys = np.repeat(K, rep, 0)
    values = np.concatenate([V] * rep)
    s = np.einsum("hmd,hnd->hmn", Q, keys) / Q.shape[-1] ** 0.5
    p = np.exp(s - s.max(2, keepdims=True))
    return np.einsum("hmn,hnv->hmv", p / p.sum(2, keepdims=True), values)
