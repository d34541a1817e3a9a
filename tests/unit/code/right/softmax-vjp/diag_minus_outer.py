import numpy as np


def row(w, g):
    return (np.diag(w) - np.outer(w, w)) @ g


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shape")
    flat = [row(a, b) for a, b in zip(w.reshape(-1, w.shape[-1]), g.reshape(-1, g.shape[-1]), strict=True)]
    return np.array(flat, dtype=w.dtype).reshape(w.shape)
