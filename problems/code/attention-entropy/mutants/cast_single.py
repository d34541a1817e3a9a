import math

import numpy as np


def attention_entropy(A, normalised=False):
    B = A.astype(np.float32)
    H = -(B * np.log(np.where(B > 0, B, 1))).sum(axis=-1).astype(A.dtype)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H
