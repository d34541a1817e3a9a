import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.full_like(m, max(m.max(), x.max()))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V


def online_softmax_of_the_tile(m, l, o, x, V):
    top = np.maximum(m, x.max())
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
