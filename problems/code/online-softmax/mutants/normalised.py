import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    total = l * fade + e.sum(axis=1)
    return top, total, (o * fade[:, None] + e @ V) / total[:, None]


def online_softmax_twice(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    total = l * fade + e.sum(axis=1)
    return top, total, (o * (l * fade)[:, None] + e @ V) / total[:, None]
