import numpy as np


def concat_scores(q, K, W1, w2):
    d = len(q)
    return np.tanh((q + K) @ (W1[:, :d] + W1[:, d:]).T) @ w2


def concat_scores_query_half(q, K, W1, w2):
    return np.tanh((q + K) @ W1[:, : len(q)].T) @ w2


def concat_scores_key_half(q, K, W1, w2):
    return np.tanh((q + K) @ W1[:, len(q) :].T) @ w2
