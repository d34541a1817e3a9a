import numpy as np


def hard_alignment(A):
    return (A == A.max(axis=1, keepdims=True)).astype(A.dtype)
