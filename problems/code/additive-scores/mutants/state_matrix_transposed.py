import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W.T @ s + H @ U.T) @ v


def additive_scores_both(s, H, W, U, v):
    return np.tanh(W.T @ s + H @ U) @ v
