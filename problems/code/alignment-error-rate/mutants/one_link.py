import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.zeros(A.shape, dtype=bool)
    links.flat[A.argmax()] = True
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))
