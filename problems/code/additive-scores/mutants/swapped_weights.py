import numpy as np


def additive_scores(s, H, W, U, v):
    e = np.tanh(U @ s + H @ W.T) @ v
    e = np.exp(e - e.max())
    return e / e.sum()
