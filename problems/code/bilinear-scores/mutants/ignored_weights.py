import numpy as np


def bilinear_scores(q, K, W):
    e = K @ q
    e = np.exp(e - e.max())
    return e / e.sum()
