import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    x = x.astype(np.float64)
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return gamma * (centred / np.sqrt(variance + eps)) + beta


def layer_norm_1(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return gamma * (centred / np.sqrt(variance + np.float64(eps))) + beta
