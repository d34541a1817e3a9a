import numpy as np


def tanh(x):
    # sign(x) (1 - e^{-2|x|}) / (1 + e^{-2|x|}) never overflows
    t = np.expm1(-2 * np.abs(x))
    return np.sign(x) * -t / (t + 2)


def additive_scores(s, H, W, U, v):
    Ws = np.dot(W, s)
    UH = np.dot(U, H.T)
    if Ws.shape[0] != UH.shape[0]:
        raise ValueError(f"W has {Ws.shape[0]} rows and U has {UH.shape[0]}")
    return np.dot(v, tanh(Ws[:, np.newaxis] + UH))
