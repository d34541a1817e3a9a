import math

import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    K, Q, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        scores = np.where(np.tri(len(X), dtype=bool), scores, np.asarray(-np.inf, scores.dtype))
    e = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V
