import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("gamma or G doesn't fit x")
    centred = x - x.mean(axis=-1, keepdims=True)
    root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)
    normal = centred / root
    inner = gamma * G
    through_mean = inner.mean(axis=-1, keepdims=True)
    through_variance = normal * (inner * normal).mean(axis=-1, keepdims=True)
    dx = inner / root
    rows = tuple(range(x.ndim - 1))
    return dx, (G * normal).sum(axis=rows), G.sum(axis=rows)
