import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != (x.shape[-1],):
        raise ValueError("gamma")
    if G.shape != x.shape:
        raise ValueError("G")
    n = x.shape[-1]
    # forward
    xc = x - np.sum(x, axis=-1, keepdims=True) / n
    var = np.sum(xc * xc, axis=-1, keepdims=True) / n
    inv = 1 / np.sqrt(var + eps)
    # backward, node by node
    dnormal = G * gamma
    dxc = dnormal * inv
    dinv = np.sum(dnormal * xc, axis=-1, keepdims=True)
    dvar = -dinv * inv**3 / 2
    dxc = dxc + 2 * xc * dvar / n
    dmean = -np.sum(dxc, axis=-1, keepdims=True)
    dx = dxc + dmean / n
    axes = tuple(range(x.ndim - 1))
    return dx, np.sum(G * xc * inv, axis=axes), np.sum(G, axis=axes)
