import numpy as np


def bilinear_scores(q, K, W):
    return K @ (W.T @ q)
