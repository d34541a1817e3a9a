import numpy as np


def attention_entropy(A, normalised=False):
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=-1)
    return H / np.log(A.shape[-1]).astype(A.dtype) if normalised else H


def attention_entropy_one(A, normalised=False):
    H = attention_entropy(A, normalised)
    return np.ones_like(H) if normalised and A.shape[-1] == 1 else H
