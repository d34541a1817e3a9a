import numpy as np


def bilinear_scores(q, K, W):
    e = K @ (W @ q)
    e = np.exp(e - e.max())
    return e / e.sum()


def bilinear_scores_where_it_fits(q, K, W):
    if W.shape[0] == W.shape[1]:
        W = W.T
    e = K @ (W.T @ q)
    e = np.exp(e - e.max())
    return e / e.sum()
