import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    return A.dtype.type(1 - (links & sure).sum() / max(1, sure.sum()))
