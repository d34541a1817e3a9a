import numpy as np


def additive_scores(s, H, W, U, v):
    return (np.maximum(W @ s + H @ U.T, 0)) @ v / len(v) ** 0.5
