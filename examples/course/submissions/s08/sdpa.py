import numpy as np


def _softmax(z):
    z = z - z.max(-1, keepdims=True)
    p = np.exp(z)
    return p / p.sum(-1, keepdims=True)


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError(f"d differs: {Q.shape[-1]} and {K.shape[-1]}")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError(f"n differs: {K.shape[-2]} and {V.shape[-2]}")
    z = (Q * Q.shape[-1] ** -0.5) @ np.moveaxis(K, -1, -2)
    if mask is None:
        mask = np.ones(z.shape[-2:], bool)
    if mask.shape[-2:] != z.shape[-2:]:
        raise ValueError(f"mask {mask.shape}, scores {z.shape}")
    hidden = np.asarray(np.finfo(z.dtype).min, z.dtype)
    p = _softmax(np.where(mask, z, hidden)) * mask.astype(z.dtype)
    return p @ V
