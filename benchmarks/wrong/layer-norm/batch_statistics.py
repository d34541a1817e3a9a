import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if (x.shape[-1],) != gamma.shape or gamma.shape != beta.shape:
        raise ValueError("parameters")
    mu = np.mean(x, axis=0)
    sigma2 = np.mean((x - mu) ** 2, axis=0)
    x_hat = (x - mu) / (sigma2 + eps) ** 0.5
    return gamma * x_hat + beta
