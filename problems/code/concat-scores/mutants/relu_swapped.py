import numpy as np


def concat_scores(q, K, W1, w2):
    x = np.concatenate([K, np.tile(q, (len(K), 1))], axis=1)
    return (np.maximum(x @ W1.T, 0)) @ w2
