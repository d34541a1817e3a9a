import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != (x.shape[-1],) or beta.shape != (x.shape[-1],):
        raise ValueError(f"rows of {x.shape[-1]} entries, gamma {gamma.shape}, beta {beta.shape}")
    mu, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mu) / np.sqrt(var + eps) * gamma + beta
