import math

import numpy as np


def attention_entropy(A, normalised=False):
    e = np.exp(A - A.max(axis=-1, keepdims=True))
    w = e / e.sum(axis=-1, keepdims=True)
    H = -(w * np.log(w)).sum(axis=-1)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H
