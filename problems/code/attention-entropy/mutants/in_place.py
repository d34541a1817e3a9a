import math

import numpy as np


def attention_entropy(A, normalised=False):
    weights = A.copy()
    A[A == 0] = 1
    H = -(weights * np.log(A)).sum(axis=-1)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H


def attention_entropy_terms(A, normalised=False):
    A *= np.log(np.where(A > 0, A, 1))
    H = -A.sum(axis=-1)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H
