import numpy as np


def additive_scores(s, H, W, U, v):
    if v.shape[0] != W.shape[0]:
        raise ValueError("v")
    x = W @ s + H @ U.T
    gate = 0.5 * (1 + np.tanh(x / 2))  # sigmoid
    return gate.sum(axis=1)
