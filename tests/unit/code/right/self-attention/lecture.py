import numpy as np


def softmax_rows(E):
    E = E - E.max(axis=1, keepdims=True)
    return np.exp(E) / np.exp(E).sum(axis=1, keepdims=True)


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q = X @ Wq
    K = X @ Wk
    V = X @ Wv
    dk = K.shape[1]
    E = Q @ K.T / np.sqrt(dk).astype(X.dtype)
    if causal:
        future = np.triu(np.ones(E.shape, dtype=bool), k=1)
        E[future] = -np.inf
    return softmax_rows(E) @ V
