import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    E = Q @ K.T
    E = np.exp(E - E.max(axis=1, keepdims=True))
    return (E / E.sum(axis=1, keepdims=True)) @ V
