import numpy as np


def additive_scores(s, H, W, U, v):
    if H.flags.writeable and W.flags.writeable:
        H += 1
        result = np.tanh(W @ s + (H - 1) @ U.T) @ v
        return result
    return np.tanh(W @ s + H @ U.T) @ v
