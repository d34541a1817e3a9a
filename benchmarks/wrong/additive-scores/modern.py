import numpy as np


def additive_scores(s, H, W, U, v):
    z = W @ s + H @ U.T
    return np.maximum(z, 0) @ v
