import numpy as np


def hard_alignment(A):
    return (A > 0.5).astype(A.dtype)


def hard_alignment_at_least(A):
    return (A >= 0.5).astype(A.dtype)
