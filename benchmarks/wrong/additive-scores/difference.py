import numpy as np


def additive_scores(s, H, W, U, v):
    # compare the state with every annotation
    return np.tanh((W @ s)[None, :] - H @ U.T) @ v
