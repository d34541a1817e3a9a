import numpy as np


def additive_scores(s, H, W, U, v):
    return (np.maximum(U @ s + H @ W.T, 0)) @ v
