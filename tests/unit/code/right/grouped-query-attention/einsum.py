import numpy as np


def grouped_query_attention(Q, K, V):
    r, left = divmod(Q.shape[0], K.shape[0])
    if left or not r or K.shape[:2] != V.shape[:2] or K.shape[-1] != Q.shape[-1]:
        raise ValueError("sizes don't fit")
    q = Q.reshape(K.shape[0], r, *Q.shape[1:])
    e = np.einsum("grmd,gnd->grmn", q, K) * Q.shape[-1] ** -0.5
    e = np.exp(e - e.max(-1)[..., None])
    out = np.einsum("grmn,gnv->grmv", e, V) / e.sum(-1)[..., None]
    return out.reshape(Q.shape[0], Q.shape[1], V.shape[-1])
