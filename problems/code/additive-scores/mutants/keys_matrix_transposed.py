import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W @ s + H @ U) @ v


def additive_scores_where_it_fits(s, H, W, U, v):
    if U.shape[0] == U.shape[1]:
        U = U.T
    return np.tanh(W @ s + H @ U.T) @ v
