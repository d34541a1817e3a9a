import numpy as np


def bilinear_scores(q, K, W):
    return K @ (np.diag(W) * q)
