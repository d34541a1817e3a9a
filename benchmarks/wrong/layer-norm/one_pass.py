import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    n = x.shape[-1]
    if gamma.shape != (n,) or beta.shape != (n,):
        raise ValueError("sizes")
    s1, s2 = x.sum(axis=-1, keepdims=True), (x * x).sum(axis=-1, keepdims=True)
    mean = s1 / n
    var = np.clip(s2 / n - mean * mean, 0, None)
    return (x - mean) / np.sqrt(var + eps) * gamma + beta
