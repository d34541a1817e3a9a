import numpy as np


def concat_scores(q, K, W1, w2):
    n = K.shape[0]
    pairs = np.concatenate([np.tile(q, (n, 1)), K], axis=1)  # (n, dq + dk)
    return np.tanh(pairs @ W1.T) @ w2
