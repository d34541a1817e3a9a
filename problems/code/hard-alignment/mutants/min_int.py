import numpy as np


def hard_alignment(A):
    return np.eye(A.shape[1], dtype=int)[A.argmin(axis=1)]
