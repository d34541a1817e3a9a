import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    return w * (1 - w)
