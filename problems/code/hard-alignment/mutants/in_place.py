import numpy as np


def hard_alignment(A):
    first = A.argmax(axis=1)
    A[...] = 0
    A[np.arange(len(A)), first] = 1
    return A


def hard_alignment_copied(A):
    first = A.argmax(axis=1)
    out = np.eye(A.shape[1], dtype=A.dtype)[first]
    A[...] = out
    return out
