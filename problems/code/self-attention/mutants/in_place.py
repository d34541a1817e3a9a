import math

import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    X *= 2
    X /= 2
    X += 1
    Q, K, V = (X - 1) @ Wq, (X - 1) @ Wk, (X - 1) @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        scores = np.where(np.tri(len(X), dtype=bool), scores, np.asarray(-np.inf, scores.dtype))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    return weights @ V
