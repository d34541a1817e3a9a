import math

import numpy as np


def _attend(Q, K, V):
    scores = Q @ K.swapaxes(-1, -2) / math.sqrt(Q.shape[-1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, d = X.shape
    if h < 1 or d % h:
        raise ValueError(f"{h} heads can't share {d} columns")
    Q, K, V = ((X @ W).reshape(n, h, d // h).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    return _attend(Q, K, V).swapaxes(0, 1).reshape(n, d) @ Wo


def multi_head_slices(X, Wq, Wk, Wv, Wo, h):
    n, d = X.shape
    if h < 1 or d % h:
        raise ValueError(f"{h} heads can't share {d} columns")
    size = d // h
    blocks = [slice(i * size, (i + 1) * size) for i in range(h)]
    heads = [_attend(X @ Wq[:, b], X @ Wk[:, b], X @ Wv[:, b]) for b in blocks]
    return np.concatenate(heads, axis=1) @ Wo


def multi_head_checked(X, Wq, Wk, Wv, Wo, h):
    n, d = X.shape
    if h < 1 or Wq.shape[1] % h:
        raise ValueError(f"{h} heads can't share {Wq.shape[1]} columns")
    Q, K, V = ((X @ W).reshape(n, h, d // h).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    return _attend(Q, K, V).swapaxes(0, 1).reshape(n, d) @ Wo


def multi_head_free(X, Wq, Wk, Wv, Wo, h):
    n, d = X.shape
    if h < 1 or d % h:
        raise ValueError(f"{h} heads can't share {d} columns")
    Q, K, V = ((X @ W).reshape(n, -1, d // h).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    return _attend(Q, K, V).swapaxes(0, 1).reshape(n, -1) @ Wo


def multi_head_rows(X, Wq, Wk, Wv, Wo, h):
    n, d = X.shape
    if h < 1 or d % h:
        raise ValueError(f"{h} heads can't share {d} columns")
    Q, K, V = ((X @ W).reshape(-1, h, d // h).swapaxes(0, 1) for W in (Wq, Wk, Wv))
    return _attend(Q, K, V).swapaxes(0, 1).reshape(n, -1) @ Wo
