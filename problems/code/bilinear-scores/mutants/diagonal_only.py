import numpy as np


def bilinear_scores(q, K, W):
    return K @ (np.diag(W) * q)


def bilinear_scores_shorter(q, K, W):
    d = min(W.shape)
    return K[:, :d] @ (np.diag(W) * q[:d])
