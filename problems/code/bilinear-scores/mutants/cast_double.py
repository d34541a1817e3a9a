import numpy as np


def bilinear_scores(q, K, W):
    return K.astype(np.float64) @ (W.T @ q)
