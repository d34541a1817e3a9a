import math

import numpy as np


def entropy(row):
    return math.fsum(-a * math.log(a) for a in map(float, row) if a > 0)


def attention_entropy(A, normalised=False):
    n = A.shape[-1]
    most = math.log(n) if normalised and n != 1 else 1.0
    values = [entropy(row) / most for row in A.reshape(-1, n)]
    return np.array(values, dtype=A.dtype).reshape(A.shape[:-1])
