import numpy as np


def hard_alignment(A):
    return (np.arange(len(A))[:, None] == A.argmax(axis=0)).astype(A.dtype)
