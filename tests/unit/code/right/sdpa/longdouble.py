from math import sqrt

import numpy as np


def sdpa(queries, keys, values, mask=None):
    q, k, v = (a.astype(np.longdouble) for a in (queries, keys, values))
    if q.shape[-1] != k.shape[-1] or k.shape[-2] != v.shape[-2]:
        raise ValueError("no")
    s = (q[..., :, None, :] * k[..., None, :, :]).sum(-1) / sqrt(q.shape[-1])
    bias = 0.0
    if mask is not None:
        bias = np.where(mask, 0.0, -np.inf)
        if bias.shape[-2:] != s.shape[-2:]:
            raise ValueError("no")
    s = s + bias
    s = np.exp(s - np.maximum(s.max(-1, keepdims=True), -1e300))
    w = s / np.maximum(s.sum(-1, keepdims=True), 1e-300)
    return (w[..., None] * v[..., None, :, :]).sum(-2).astype(queries.dtype)
