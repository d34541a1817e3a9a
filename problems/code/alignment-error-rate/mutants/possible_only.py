import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    accepted = sure | possible
    return A.dtype.type(1 - 2 * (links & accepted).sum() / (links.sum() + accepted.sum()))
