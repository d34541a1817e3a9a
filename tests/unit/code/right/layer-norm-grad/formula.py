import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("sizes")
    mu, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    rstd = (var + eps) ** -0.5
    xhat = (x - mu) * rstd
    dxhat = G * gamma
    dx = rstd / d * (d * dxhat - dxhat.sum(-1, keepdims=True) - xhat * (dxhat * xhat).sum(-1, keepdims=True))
    flat = (-1, d)
    return dx, (G * xhat).reshape(flat).sum(0), G.reshape(flat).sum(0)
