import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[0])[:, None] == A.argmax(axis=0)
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))
