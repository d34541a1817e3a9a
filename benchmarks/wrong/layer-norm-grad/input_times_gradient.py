import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("gamma, G")
    c = x - x.mean(-1, keepdims=True)
    s = (np.mean(c * c, -1, keepdims=True) + eps) ** 0.5
    t = gamma * G
    t = t - t.mean(-1, keepdims=True) - c * np.mean(t * c, -1, keepdims=True) / s**2
    axes = tuple(range(x.ndim - 1))
    return t / s, (G * x).sum(axes), G.sum(axes)
