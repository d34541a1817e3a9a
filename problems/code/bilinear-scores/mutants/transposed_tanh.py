import numpy as np


def bilinear_scores(q, K, W):
    return np.tanh(K @ (W @ q))


def bilinear_scores_where_it_fits(q, K, W):
    if W.shape[0] == W.shape[1]:
        W = W.T
    return np.tanh(K @ (W.T @ q))
