import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W.T @ s + H @ U.T) @ v


def additive_scores_both(s, H, W, U, v):
    return np.tanh(W.T @ s + H @ U) @ v


def additive_scores_where_it_fits(s, H, W, U, v):
    if W.shape[0] == W.shape[1]:
        W = W.T
    return np.tanh(W @ s + H @ U.T) @ v
