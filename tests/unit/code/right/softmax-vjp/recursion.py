import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("w, g")
    if w.ndim == 1:
        mean = np.dot(w, g)
        return w * (g - mean)
    out = np.empty_like(w)
    for k in range(w.shape[0]):
        out[k] = softmax_vjp(w[k], g[k])
    return out
