import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    D = x.shape[-1]
    if gamma.shape != (D,) or G.shape != x.shape:
        raise ValueError("D")
    std = np.std(x, axis=-1, keepdims=True) + eps
    z = (x - x.mean(axis=-1, keepdims=True)) / std
    h = gamma * G
    dx = (D * h - h.sum(axis=-1, keepdims=True) - z * np.sum(h * z, axis=-1, keepdims=True)) / (D * std)
    lead = tuple(range(x.ndim - 1))
    return dx, np.sum(G * z, axis=lead), np.sum(G, axis=lead)
