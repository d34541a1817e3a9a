import numpy as np


def alignment_error_rate(A, sure, possible):
    links = A > 0.5
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(1 - hits / max(1, links.sum() + sure.sum()))


def alignment_error_rate_mean(A, sure, possible):
    links = A > 1 / A.shape[1]
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(1 - hits / max(1, links.sum() + sure.sum()))
