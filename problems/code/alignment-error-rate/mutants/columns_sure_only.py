import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[0])[:, None] == A.argmax(axis=0)
    return A.dtype.type(1 - 2 * (links & sure).sum() / (links.sum() + sure.sum()))
