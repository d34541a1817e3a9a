import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    if (gamma.shape, beta.shape) != ((d,), (d,)):
        raise ValueError((x.shape, gamma.shape, beta.shape))
    # subtracting the mean is a projection: C = I - 11^T / d
    first = x - x[..., :1]
    C = (np.eye(d) - 1 / d).astype(x.dtype)
    y = first @ C
    length = np.linalg.norm(y, axis=-1, keepdims=True)
    return y / np.sqrt(length * length / d + eps) @ np.diag(gamma) + beta
