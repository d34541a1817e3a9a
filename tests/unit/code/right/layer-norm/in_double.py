import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError("shapes")
    wide = np.asarray(x, dtype=np.longdouble)
    z = (wide - wide.mean(axis=-1, keepdims=True)) / np.sqrt(wide.var(axis=-1, keepdims=True) + eps)
    return (z * gamma + beta).astype(x.dtype)
