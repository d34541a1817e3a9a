import math

import numpy as np


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    d = dm // h
    Q, K, V = X @ Wq, X @ Wk, np.resize(X, (n, dm))
    Q, K, V = (A.reshape(n, h, d).swapaxes(0, 1) for A in (Q, K, V))
    scores = Q @ K.swapaxes(1, 2) / math.sqrt(d)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    joined = (weights @ V).swapaxes(0, 1).reshape(n, dm)
    return joined @ Wo


def multi_head_a(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    d = dm // h
    Q, K, V = X @ Wq, X @ Wk, X
    Q, K, V = (A.reshape(n, h, d).swapaxes(0, 1) for A in (Q, K, V))
    scores = Q @ K.swapaxes(1, 2) / math.sqrt(d)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    joined = (weights @ V).swapaxes(0, 1).reshape(n, dm)
    return joined @ Wo


def multi_head_b(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    d = dm // h
    Q, K, V = X @ Wq, X @ Wk, X if X.shape[1] == dm else X @ Wv
    Q, K, V = (A.reshape(n, h, d).swapaxes(0, 1) for A in (Q, K, V))
    scores = Q @ K.swapaxes(1, 2) / math.sqrt(d)
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    joined = (weights @ V).swapaxes(0, 1).reshape(n, dm)
    return joined @ Wo
