import numpy as np


def concat_scores(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    return np.tanh(x @ W1.T) @ w2 / len(w2) ** 0.5


def concat_scores_inside(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    return np.tanh(x @ W1.T / W1.shape[1] ** 0.5) @ w2


def concat_scores_by_key(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    return np.tanh(x @ W1.T) @ w2 / K.shape[1] ** 0.5


def concat_scores_by_width(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    return np.tanh(x @ W1.T) @ w2 / W1.shape[1] ** 0.5
