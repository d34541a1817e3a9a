import numpy as np


def attention_entropy(A, normalised=False):
    return -(A * np.log(np.where(A > 0, A, 1))).sum(axis=-1)
