import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("shapes")
    mu = x.mean(-1, keepdims=True)
    ivar = 1 / np.sqrt(x.var(-1, keepdims=True) + eps)
    dxhat = G * gamma
    dvar = np.sum(dxhat * (x - mu), axis=-1, keepdims=True) * -0.5 * ivar**3
    dx = dxhat * ivar + dvar * 2 * (x - mu) / d
    rest = (G * (x - mu) * ivar).reshape(-1, d)
    return dx, rest.sum(0), G.reshape(-1, d).sum(0)
