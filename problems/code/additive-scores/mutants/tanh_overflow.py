import numpy as np


def additive_scores(s, H, W, U, v):
    z = W @ s + H @ U.T
    a, b = np.exp(z), np.exp(-z)
    return ((a - b) / (a + b)) @ v


def additive_scores_doubled(s, H, W, U, v):
    e = np.exp(2 * (W @ s + H @ U.T))
    return ((e - 1) / (e + 1)) @ v


def additive_scores_negative(s, H, W, U, v):
    e = np.exp(-2 * (W @ s + H @ U.T))
    return ((1 - e) / (1 + e)) @ v
