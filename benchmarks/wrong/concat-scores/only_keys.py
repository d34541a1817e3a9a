import numpy as np


def concat_scores(q, K, W1, w2):
    if W1.shape[1] != len(q) + K.shape[1]:
        raise ValueError("W1 does not fit")
    W_key = W1[:, len(q) :]
    return np.tanh(K @ W_key.T) @ w2
