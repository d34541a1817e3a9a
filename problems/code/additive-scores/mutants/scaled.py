import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(W @ s + H @ U.T) @ v / len(v) ** 0.5


def additive_scores_inside(s, H, W, U, v):
    return np.tanh((W @ s + H @ U.T) / len(v) ** 0.5) @ v
