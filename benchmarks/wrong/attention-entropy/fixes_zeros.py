import numpy as np


def attention_entropy(A, normalised=False):
    old = A.copy()
    A[A <= 0] = 1.0
    H = -np.sum(old * np.log(A), axis=-1)
    return H / float(np.log(A.shape[-1])) if normalised and A.shape[-1] > 1 else H
