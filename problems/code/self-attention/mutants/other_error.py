import math

import numpy as np


def right(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])  # (n, n)
    if causal:
        visible = np.tri(len(X), dtype=bool)  # j <= i
        scores = np.where(visible, scores, np.asarray(-np.inf, scores.dtype))
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))  # hidden tokens: exp(-inf) = 0
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ V  # (n, dv)


def self_attention(X, Wq, Wk, Wv, causal=False):
    try:
        return right(X, Wq, Wk, Wv, causal)
    except ValueError as error:
        raise AssertionError(str(error)) from None
