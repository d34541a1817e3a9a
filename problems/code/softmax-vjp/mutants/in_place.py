import numpy as np


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    g -= (w * g).sum(axis=-1, keepdims=True)
    g *= w
    return g


def softmax_vjp_gradient(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    out = g
    out -= (w * g).sum(axis=-1, keepdims=True)
    return w * out
