import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    dm = Wq.shape[1]
    if h < 1 or dm % h or Wo.shape[0] != dm:
        raise ValueError("sizes")
    size = dm // h
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    out = np.empty_like(V)
    for i in range(h):
        cols = slice(i * size, (i + 1) * size)
        s = Q[:, cols] @ K[:, cols].T / size**0.5
        e = np.exp(s - s.max(axis=1, keepdims=True))
        out[:, cols] = (e / e.sum(axis=1, keepdims=True)) @ V[:, cols]
    return out
