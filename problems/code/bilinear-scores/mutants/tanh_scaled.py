import numpy as np


def bilinear_scores(q, K, W):
    return np.tanh(K @ (W.T @ q) / K.shape[1] ** 0.5)
