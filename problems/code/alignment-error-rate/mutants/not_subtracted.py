import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(hits / (links.sum() + sure.sum()))
