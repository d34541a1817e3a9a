import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.ndim != 1 or len(gamma) != d or G.shape != x.shape:
        raise ValueError("the shapes don't fit")
    c = x - np.einsum("...i->...", x)[..., None] / d
    r = 1 / np.sqrt(np.einsum("...i,...i->...", c, c) / d + eps)
    z = np.einsum("...i,...->...i", c, r)
    dz = np.einsum("...i,i->...i", G, gamma)
    mean = np.einsum("...i->...", dz) / d
    slope = np.einsum("...i,...i->...", dz, z) / d
    dx = np.einsum("...i,...->...i", dz - mean[..., None] - np.einsum("...i,...->...i", z, slope), r)
    rows, z = G.reshape(-1, d), z.reshape(-1, d)
    return dx, np.einsum("ri,ri->i", rows, z), np.einsum("ri->i", rows)
