import numpy as np


def additive_scores(s, H, W, U, v):
    e = (W @ s + H @ U.T) @ v
    e = np.exp(e - e.max())
    return e / e.sum()
