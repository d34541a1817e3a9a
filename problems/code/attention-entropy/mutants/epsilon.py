import math

import numpy as np


def attention_entropy(A, normalised=False, epsilon=1e-9):
    H = -(A * np.log(A + np.asarray(epsilon, A.dtype))).sum(axis=-1)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H


def attention_entropy_1e8(A, normalised=False):
    return attention_entropy(A, normalised, 1e-8)


def attention_entropy_1e6(A, normalised=False):
    return attention_entropy(A, normalised, 1e-6)


def attention_entropy_1e5(A, normalised=False):
    return attention_entropy(A, normalised, 1e-5)


def attention_entropy_1e3(A, normalised=False):
    return attention_entropy(A, normalised, 1e-3)
