import numpy as np


def hard_alignment(A):
    order = np.argsort(-A, axis=1, kind="stable")  # stable: equal entries stay in the order of columns
    place = np.argsort(order, axis=1)
    return (place == 0).astype(A.dtype)
