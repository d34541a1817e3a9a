import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("gamma, G")
    c = x - x.mean(-1, keepdims=True)
    s = (np.mean(c * c, -1, keepdims=True) + eps) ** 0.5
    z = c / s
    t = gamma * G
    dx = (t - t.mean(-1, keepdims=True) - z * np.mean(t * z, -1, keepdims=True)) / s
    return dx, z * G, G.copy()
