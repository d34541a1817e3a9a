import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    n = x.shape[-1]
    if gamma.shape != (n,) or beta.shape != (n,):
        raise ValueError("gamma and beta")
    if x.size == 0:
        return np.zeros_like(x)

    def one(row):
        deviation = row - np.average(row)
        return deviation / np.sqrt(np.average(deviation * deviation) + eps)

    return np.apply_along_axis(one, -1, x) * gamma + beta
