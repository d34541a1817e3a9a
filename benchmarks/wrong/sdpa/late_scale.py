import numpy as np


def sdpa(Q, K, V, mask=None):
    s = np.einsum("...id,...jd->...ij", Q, K)
    if mask is not None:
        s = np.where(mask, s, np.finfo(s.dtype).min)
    s = s - np.amax(s, axis=-1, keepdims=True)
    e = np.exp(s)
    p = e / e.sum(axis=-1, keepdims=True)
    if mask is not None:
        p = np.where(mask, p, 0)
    p = p / Q.shape[-1] ** 0.5  # scaled dot product
    return np.einsum("...ij,...jv->...iv", p, V)
