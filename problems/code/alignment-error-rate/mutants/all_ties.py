import numpy as np


def alignment_error_rate(A, sure, possible):
    links = A == A.max(axis=1, keepdims=True)
    accepted = sure | possible
    hits = (links & sure).sum() + (links & accepted).sum()
    return A.dtype.type(1 - hits / (links.sum() + sure.sum()))
