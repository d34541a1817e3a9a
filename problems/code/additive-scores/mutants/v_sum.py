import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W @ s + H @ U.T).sum(axis=-1)
