import numpy as np


def additive_scores(s, H, W, U, v):
    inner = W.dot(s) + H.dot(U.T)
    return np.tanh(inner.dot(v))
