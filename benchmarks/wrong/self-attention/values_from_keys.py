import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    if Wv.shape[0] != X.shape[1]:
        raise ValueError("Wv does not fit")
    Q, K = X @ Wq, X @ Wk
    S = Q @ K.T / K.shape[1] ** 0.5
    if causal:
        S[np.triu_indices(len(S), 1)] = -np.inf
    P = np.exp(S - S.max(-1, keepdims=True))
    P /= P.sum(-1, keepdims=True)
    return P @ K
