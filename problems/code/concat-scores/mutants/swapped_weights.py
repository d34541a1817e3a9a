import numpy as np


def concat_scores(q, K, W1, w2):
    x = np.concatenate([K, np.tile(q, (len(K), 1))], axis=1)
    e = np.tanh(x @ W1.T) @ w2
    e = np.exp(e - e.max())
    return e / e.sum()
