import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / (gamma * np.sqrt(variance + eps)) + beta
