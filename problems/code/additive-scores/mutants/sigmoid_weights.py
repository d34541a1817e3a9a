import numpy as np


def additive_scores(s, H, W, U, v):
    e = (0.5 * (1 + np.tanh((W @ s + H @ U.T) / 2))) @ v
    e = np.exp(e - e.max())
    return e / e.sum()
