import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("no fit")
    rstd = 1 / np.sqrt(np.var(x, axis=-1, keepdims=True) + eps)
    z = (x - np.mean(x, axis=-1, keepdims=True)) * rstd
    d = x.shape[-1]
    return G * rstd, np.sum((G * z).reshape(-1, d), axis=0), np.sum(G.reshape(-1, d), axis=0)
