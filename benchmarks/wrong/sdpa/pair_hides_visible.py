import numpy as np


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes")
    z = Q @ K.swapaxes(-2, -1) / Q.shape[-1] ** 0.5
    if mask is not None:
        if mask.shape[-2:] != z.shape[-2:]:
            raise ValueError("mask")
        z = z + (mask * -1e9).astype(z.dtype)
    z = np.exp(z - z.max(-1, keepdims=True))
    return z / z.sum(-1, keepdims=True) @ V
