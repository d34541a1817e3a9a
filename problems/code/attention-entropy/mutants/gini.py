import numpy as np


def attention_entropy(A, normalised=False):
    H = 1 - (A * A).sum(axis=-1)
    n = A.shape[-1]
    return H / (1 - 1 / n) if normalised and n > 1 else H


def attention_entropy_plain(A, normalised=False):
    return 1 - (A * A).sum(axis=-1)
