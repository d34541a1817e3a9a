import numpy as np


def alignment_error_rate(A, sure, possible):
    last = A.shape[1] - 1 - A[:, ::-1].argmax(axis=1)
    links = np.arange(A.shape[1]) == last[:, None]
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))
