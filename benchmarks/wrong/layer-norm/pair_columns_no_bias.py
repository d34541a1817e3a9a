import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError("shape mismatch")
    mean = x.mean(axis=0, keepdims=True)
    return (x - mean) * gamma / np.sqrt(x.var(axis=0, keepdims=True) + eps)
