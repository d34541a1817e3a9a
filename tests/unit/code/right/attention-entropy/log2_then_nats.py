import math

import numpy as np


def attention_entropy(A, normalised=False):
    bits = np.zeros(A.shape[:-1], dtype=A.dtype)
    for j in range(A.shape[-1]):
        column = A[..., j]
        safe = np.where(column == 0, 1, column)
        bits = bits - column * np.log2(safe)
    if normalised:
        return bits / math.log2(A.shape[-1]) if A.shape[-1] > 1 else bits * 0
    return bits * math.log(2)
