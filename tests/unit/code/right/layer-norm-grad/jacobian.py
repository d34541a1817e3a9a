import numpy as np


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("gamma and G must fit")
    X, g = x.reshape(-1, d), G.reshape(-1, d)
    dx = np.zeros_like(X)
    dgamma, dbeta = np.zeros_like(gamma), np.zeros_like(gamma)
    for r in range(len(X)):
        centred = X[r] - X[r].mean()
        s = np.sqrt(centred @ centred / d + eps)
        z = centred / s
        J = (np.eye(d, dtype=x.dtype) - 1 / d - np.outer(z, z) / d) / s
        dx[r] = J @ (gamma * g[r])
        dgamma += g[r] * z
        dbeta += g[r]
    return dx.reshape(x.shape), dgamma, dbeta
