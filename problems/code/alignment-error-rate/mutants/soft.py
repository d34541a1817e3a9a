import numpy as np


def alignment_error_rate(A, sure, possible):
    accepted = sure | possible
    hits = A[sure].sum() + A[accepted].sum()
    return A.dtype.type(1 - hits / (A.sum() + sure.sum()))
