import numpy as np


def additive_scores(s, H, W, U, v):
    return (np.tanh(W @ s) + np.tanh(H @ U.T)) @ v
