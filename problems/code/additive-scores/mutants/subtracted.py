import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W @ s - H @ U.T) @ v


def additive_scores_other_way(s, H, W, U, v):
    return np.tanh(H @ U.T - W @ s) @ v
