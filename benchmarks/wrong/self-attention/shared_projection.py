import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    if Wq.shape[0] != X.shape[1] or Wq.shape[1] != Wk.shape[1]:
        raise ValueError("Wq does not fit")
    Q = X @ Wk
    K = X @ Wk
    V = X @ Wv
    S = Q @ K.T / K.shape[1] ** 0.5
    if causal:
        S = np.where(np.tri(len(X), dtype=bool), S, -np.inf)
    E = np.exp(S - S.max(1)[:, None])
    return E @ V / E.sum(1)[:, None]
