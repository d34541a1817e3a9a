import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W @ s + H @ U.T)


def additive_scores_columns(s, H, W, U, v):
    return np.tanh((W @ s)[:, np.newaxis] + U @ H.T)


def additive_scores_weighted(s, H, W, U, v):
    return np.tanh(W @ s + H @ U.T) * v
