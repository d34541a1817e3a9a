import math

import numpy as np


def _weights(X, Wq, Wk):
    Q, K = X @ Wq, X @ Wk
    scores = Q @ K.T / math.sqrt(K.shape[1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def self_attention(X, Wq, Wk, Wv, causal=False):
    weights = _weights(X, Wq, Wk)
    if causal:
        weights = np.tril(weights)
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ (X @ Wv)


def self_attention_shifted(X, Wq, Wk, Wv, causal=False):
    Q, K = X @ Wq, X @ Wk
    scores = Q @ K.T / math.sqrt(K.shape[1])
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    if causal:
        e = np.tril(e)
    return e / e.sum(axis=-1, keepdims=True) @ (X @ Wv)
