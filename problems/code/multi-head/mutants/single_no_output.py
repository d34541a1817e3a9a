import math

import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / math.sqrt(dm)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V
