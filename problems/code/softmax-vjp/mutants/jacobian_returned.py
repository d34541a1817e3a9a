import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    return w[..., :, None] * (np.eye(w.shape[-1], dtype=w.dtype) - w[..., None, :])
