import math

import numpy as np


def attention_entropy(A, normalised=False):
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=0)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H


def attention_entropy_size(A, normalised=False):
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=0)
    n = A.shape[0]
    return H / math.log(n) if normalised and n > 1 else H


def attention_entropy_rows(A, normalised=False):
    if A.ndim == 1:
        return attention_entropy(A, normalised)
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=-2)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H
