import numpy as np


def additive_scores(s, H, W, U, v):
    return (0.5 * (1 + np.tanh((W @ s + H @ U.T) / 2))).sum(axis=-1)
