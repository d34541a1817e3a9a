import numpy as np


def concat_scores(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    return np.tanh(x @ W1.T @ w2)


def concat_scores_each(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    return np.tanh(x @ W1.T * w2).sum(axis=-1)
