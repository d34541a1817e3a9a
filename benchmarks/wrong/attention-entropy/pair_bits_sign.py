import numpy as np


def attention_entropy(A, normalised=False):
    safe = np.where(A == 0, 1, A)
    total = np.sum(A * np.log2(safe), axis=-1)
    if normalised and A.shape[-1] > 1:
        total = total / float(np.log2(A.shape[-1]))
    return total
