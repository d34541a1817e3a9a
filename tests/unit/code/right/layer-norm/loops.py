import math

import numpy as np


def normalise(row, gamma, beta, eps):
    d = len(row)
    mean = math.fsum(row) / d
    variance = sum((value - mean) ** 2 for value in row) / d
    return [g * (value - mean) / math.sqrt(variance + eps) + b for value, g, b in zip(row, gamma, beta)]


def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or beta.shape != (d,):
        raise ValueError("sizes of gamma and beta")
    rows = x.reshape(-1, d).tolist()
    result = [normalise(row, gamma.tolist(), beta.tolist(), eps) for row in rows]
    return np.array(result, dtype=x.dtype).reshape(x.shape)
