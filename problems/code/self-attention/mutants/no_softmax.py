import math

import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        scores = np.tril(scores)
    return scores @ V


def self_attention_more(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])
    return scores @ V
