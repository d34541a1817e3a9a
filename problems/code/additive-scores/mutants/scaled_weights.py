import numpy as np


def additive_scores(s, H, W, U, v):
    e = np.tanh(W @ s + H @ U.T) @ v / len(v) ** 0.5
    e = np.exp(e - e.max())
    return e / e.sum()
