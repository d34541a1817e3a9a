import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    D = x.shape[-1]
    if gamma.shape != (D,) or G.shape != x.shape:
        raise ValueError("D")
    var = np.var(x, axis=-1, keepdims=True)
    z = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(var + eps)
    h = gamma * G
    dx = h - h.mean(axis=-1, keepdims=True) - z * np.mean(h * z, axis=-1, keepdims=True)
    z, h = z.reshape(-1, D), G.reshape(-1, D)
    return dx, np.einsum("ni,ni->i", z, h), np.ones(len(h), h.dtype) @ h
