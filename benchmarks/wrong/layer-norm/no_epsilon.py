import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != x.shape[-1:]:
        raise ValueError("gamma")
    if beta.shape != x.shape[-1:]:
        raise ValueError("beta")
    z = x - np.average(x, axis=-1)[..., np.newaxis]
    z = z / np.sqrt(np.average(z * z, axis=-1))[..., np.newaxis]
    return gamma * z + beta
