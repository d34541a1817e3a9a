import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    average = np.mean(w * g, axis=-1, keepdims=True)
    return w * (g - average)
