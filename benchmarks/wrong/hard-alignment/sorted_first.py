import numpy as np


def hard_alignment(A):
    order = np.argsort(A, axis=1, kind="stable")
    one_hot = np.zeros_like(A)
    one_hot[np.arange(len(A)), order[:, 0]] = 1
    return one_hot
