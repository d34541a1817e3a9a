import numpy as np


def centre(a):
    return a - a.mean(axis=-1, keepdims=True)


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("shape")
    z = centre(x)
    variance = np.mean(z * z, axis=-1, keepdims=True)
    t = centre(gamma * G)
    # twice the projection that removes the mean, and what is left along the row itself
    along = np.mean(t * z, axis=-1, keepdims=True) / (variance + eps)
    s = np.sqrt(variance + eps)
    lead = tuple(range(x.ndim))[:-1]
    return (t - along * z) / s, np.sum(G * z / s, axis=lead), np.sum(G, axis=lead)
