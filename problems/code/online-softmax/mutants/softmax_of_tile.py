import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    total = l * fade + e.sum(axis=1)
    return top, total, o * fade[:, None] + e / e.sum(axis=1, keepdims=True) @ V


def online_softmax_weights(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    w = e / e.sum(axis=1, keepdims=True)
    return top, l * fade + w.sum(axis=1), o * fade[:, None] + w @ V
