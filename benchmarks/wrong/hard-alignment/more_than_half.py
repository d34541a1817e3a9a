import numpy as np


def hard_alignment(A):
    return np.where(A > 0.5, 1, 0).astype(A.dtype)
