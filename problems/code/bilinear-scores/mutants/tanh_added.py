import numpy as np


def bilinear_scores(q, K, W):
    return np.tanh(K @ (W.T @ q))


def bilinear_scores_query(q, K, W):
    return K @ np.tanh(W.T @ q)
