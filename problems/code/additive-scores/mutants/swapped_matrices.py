import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(U @ s + H @ W.T) @ v


def additive_scores_where_it_fits(s, H, W, U, v):
    if W.shape == U.shape:
        W, U = U, W
    return np.tanh(W @ s + H @ U.T) @ v
