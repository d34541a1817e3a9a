import numpy as np


def bilinear_scores(q, K, W):
    e = K @ (W.T @ q) / K.shape[1] ** 0.5
    e = np.exp(e - e.max())
    return e / e.sum()
