import math

import numpy as np


def attention_entropy(A, normalised=False):
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=-1)
    n = A.shape[-1]
    return (H / math.log(n) if normalised and n > 1 else H).mean()


def attention_entropy_total(A, normalised=False):
    H = -(A * np.log(np.where(A > 0, A, 1))).sum(axis=-1)
    n = A.shape[-1]
    return (H / math.log(n) if normalised and n > 1 else H).sum()
