import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)  # what came before was taken relative to the old maximum; exp(-inf) = 0 at first
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
