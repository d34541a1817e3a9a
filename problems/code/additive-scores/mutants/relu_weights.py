import numpy as np


def additive_scores(s, H, W, U, v):
    e = (np.maximum(W @ s + H @ U.T, 0)) @ v
    e = np.exp(e - e.max())
    return e / e.sum()
