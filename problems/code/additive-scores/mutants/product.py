import numpy as np


def additive_scores(s, H, W, U, v):
    return (np.tanh(W @ s) * np.tanh(H @ U.T)) @ v


def additive_scores_inside(s, H, W, U, v):
    return np.tanh((W @ s) * (H @ U.T)) @ v


def additive_scores_tanh_once(s, H, W, U, v):
    return (W @ s * np.tanh(H @ U.T)) @ v
