import numpy as np


def concat_scores(q, K, W1, w2):
    if W1.shape[0] != w2.shape[0]:
        raise ValueError("w2 does not fit W1")
    tiled = np.tile(q, (K.shape[0], 1))
    hidden = np.tanh(np.hstack([tiled, K]) @ W1.T)
    return np.sum(hidden, axis=1)
