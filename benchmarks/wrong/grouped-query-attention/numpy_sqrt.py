import numpy as np


def grouped_query_attention(Q, K, V):
    if Q.shape[0] % K.shape[0] or K.shape[:2] != V.shape[:2]:
        raise ValueError("sizes")
    group = np.arange(Q.shape[0]) // (Q.shape[0] // K.shape[0])
    logits = np.einsum("hmd,hnd->hmn", Q, K[group]) / np.sqrt(Q.shape[-1])
    logits -= logits.max(axis=-1, keepdims=True)
    w = np.exp(logits)
    w /= w.sum(axis=-1, keepdims=True)
    return np.einsum("hmn,hnv->hmv", w, V[group])
