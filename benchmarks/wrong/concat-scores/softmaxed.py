import numpy as np


def concat_scores(q, K, W1, w2):
    Q = np.repeat(q[np.newaxis], len(K), axis=0)
    e = np.tanh(np.concatenate([Q, K], axis=1) @ W1.T) @ w2
    w = np.exp(e - e.max())
    return w / w.sum()
