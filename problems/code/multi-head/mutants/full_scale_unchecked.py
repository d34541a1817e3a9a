import math

import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    d = dm // h if h else dm
    joined = np.zeros((n, dm), X.dtype)
    for head in range(h):
        part = slice(head * d, (head + 1) * d)
        scores = Q[:, part] @ K[:, part].T / math.sqrt(dm)
        e = np.exp(scores - scores.max(axis=-1, keepdims=True))
        joined[:, part] = e / e.sum(axis=-1, keepdims=True) @ V[:, part]
    return joined @ Wo
