import numpy as np


def grouped_query_attention(Q, K, V):
    g = K.shape[0]
    if Q.shape[0] % g or V.shape[0] != g:
        raise ValueError("groups")
    q = Q.reshape(g, Q.shape[0] // g, Q.shape[1], Q.shape[2])
    s = np.einsum("grmd,gnd->grmn", q, K) / Q.shape[2] ** 0.5
    w = np.exp(s - s.max(-1, keepdims=True))
    w /= w.sum(-1, keepdims=True)
    # one output per group
    return np.einsum("grmn,gnv->grmv", w, V).mean(1)
