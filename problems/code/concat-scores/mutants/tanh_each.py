import numpy as np


def concat_scores(q, K, W1, w2):
    d = len(q)
    return (np.tanh(W1[:, :d] @ q) + np.tanh(K @ W1[:, d:].T)) @ w2
