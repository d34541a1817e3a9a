import numpy as np


def additive_scores(s, H, W, U, v):
    return (0.5 * (1 + np.tanh((U @ s + H @ W.T) / 2))) @ v
