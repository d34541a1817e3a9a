import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or beta.shape != (d,):
        raise ValueError("gamma and beta must be vectors of d entries")
    mean = np.mean(x, axis=-1)[..., None]
    std = np.std(x, axis=-1)[..., None]
    return gamma * (x - mean) / (std + eps) + beta
