import numpy as np


def sdpa(Q, K, V, mask=None):
    root = K.shape[-1] ** 0.5
    s = np.matmul(Q * root, np.swapaxes(K, -1, -2))
    seen = np.ones(s.shape, bool) if mask is None else np.broadcast_to(mask, s.shape)
    s = np.where(seen, s, np.finfo(s.dtype).min)
    w = np.exp(s - s.max(-1, keepdims=True)) * seen
    z = w.sum(-1, keepdims=True)
    return np.matmul(w / np.maximum(z, np.finfo(z.dtype).tiny), V)
