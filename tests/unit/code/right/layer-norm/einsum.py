import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.ndim != 1 or beta.ndim != 1 or len(gamma) != x.shape[-1] or len(beta) != x.shape[-1]:
        raise ValueError("one gain and one bias per feature")
    d = x.shape[-1]
    centred = x - np.einsum("...i->...", x)[..., None] / d
    power = np.einsum("...i,...i->...", centred, centred)[..., None] / d
    return np.einsum("...i,i->...i", centred * (power + eps) ** -0.5, gamma) + beta
