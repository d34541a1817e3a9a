import numpy as np


def additive_scores(s, H, W, U, v):
    kind = v.dtype
    s, H, W, U, v = (a.astype(np.float32) for a in (s, H, W, U, v))
    return (np.tanh(W @ s + H @ U.T) @ v).astype(kind)
