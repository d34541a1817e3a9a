import numpy as np


def attention_entropy(A, normalised=False):
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=-1)
    counted = np.log((A > 0).sum(axis=-1)).astype(A.dtype)
    return H / np.where(counted > 0, counted, 1) if normalised else H
