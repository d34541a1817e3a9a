import numpy as np


def alignment_error_rate(A, sure, possible):
    links = np.arange(A.shape[1]) == A.argmax(axis=1)[:, None]
    accepted = sure | possible
    hits = (links & sure).sum(axis=1) + (links & accepted).sum(axis=1)
    return (1 - hits / (1 + sure.sum(axis=1))).astype(A.dtype)


def alignment_error_rate_mean(A, sure, possible):
    return alignment_error_rate(A, sure, possible).mean()
