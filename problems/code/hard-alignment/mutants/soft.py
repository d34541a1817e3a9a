import numpy as np


def hard_alignment(A):
    e = np.exp(A - A.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def hard_alignment_sharpened(A):
    e = np.exp(100 * (A - A.max(axis=1, keepdims=True)))
    return e / e.sum(axis=1, keepdims=True)
