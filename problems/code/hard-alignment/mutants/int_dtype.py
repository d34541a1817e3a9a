import numpy as np


def hard_alignment(A):
    return np.eye(A.shape[1], dtype=int)[A.argmax(axis=1)]


def hard_alignment_bool(A):
    return np.eye(A.shape[1], dtype=bool)[A.argmax(axis=1)]


def hard_alignment_narrow(A):
    return np.eye(A.shape[1], dtype=np.int32)[A.argmax(axis=1)]
