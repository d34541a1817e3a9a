import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh((W @ s + H @ U.T) @ v)


def additive_scores_each(s, H, W, U, v):
    return np.tanh((W @ s + H @ U.T) * v).sum(axis=-1)
