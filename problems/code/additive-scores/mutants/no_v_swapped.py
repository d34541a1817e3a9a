import numpy as np


def additive_scores(s, H, W, U, v):
    return np.tanh(U @ s + H @ W.T).sum(axis=-1)
