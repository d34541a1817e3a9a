import math

import numpy as np


def attention_entropy(A, normalised=False):
    logs = np.log(np.where(A > 0, A, 1))  # 0 log 0 = 0, and log 1 is 0
    H = -(A * logs).sum(axis=-1)
    n = A.shape[-1]
    return H / math.log(n) if normalised and n > 1 else H
