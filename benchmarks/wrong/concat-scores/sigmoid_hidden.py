import numpy as np


def sigmoid(z):
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1 / (1 + e), e / (1 + e))


def concat_scores(q, K, W1, w2):
    out = []
    for i in range(K.shape[0]):
        out.append(w2 @ sigmoid(W1 @ np.append(q, K[i])))
    return np.array(out, dtype=K.dtype)
