import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError("gamma and beta don't fit x")
    mean = np.zeros(x.shape[:-1], x.dtype)
    squares = np.zeros(x.shape[:-1], x.dtype)
    for count in range(x.shape[-1]):
        delta = x[..., count] - mean
        mean = mean + delta / (count + 1)
        squares = squares + delta * (x[..., count] - mean)
    out = (x - mean[..., np.newaxis]) / np.sqrt(squares / x.shape[-1] + eps)[..., np.newaxis]
    return out * gamma + beta
