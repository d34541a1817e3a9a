import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    return (w * (g - (w * g).sum(axis=-1, keepdims=True))).astype(np.float64)
