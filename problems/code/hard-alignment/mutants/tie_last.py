import numpy as np


def hard_alignment(A):
    last = A.shape[1] - 1 - A[:, ::-1].argmax(axis=1)
    return np.eye(A.shape[1], dtype=A.dtype)[last]
