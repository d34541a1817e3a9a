import numpy as np


def additive_scores(s, H, W, U, v):
    z = W @ s + H @ U.T
    return 0.5 * (1 + np.tanh(z / 2)) @ v
