import numpy as np


def concat_scores(q, K, W1, w2):
    x = np.concatenate([np.tile(q, (len(K), 1)), K], axis=1)
    e = (x @ W1.T) @ w2
    e = np.exp(e - e.max())
    return e / e.sum()
