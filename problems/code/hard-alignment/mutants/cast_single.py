import numpy as np


def hard_alignment(A):
    return np.eye(A.shape[1], dtype=np.float32)[A.argmax(axis=1)]
