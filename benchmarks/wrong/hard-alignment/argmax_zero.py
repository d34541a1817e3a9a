import numpy as np


def hard_alignment(A):
    out = np.zeros_like(A)
    best = A.argmax(axis=0)
    for j in range(A.shape[1]):
        out[best[j], j] = 1
    return out
