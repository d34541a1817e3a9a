import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return top, top + np.log(l * fade + e.sum(axis=1)), o * fade[:, None] + e @ V


def online_softmax_plain(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return top, np.log(l * fade + e.sum(axis=1)), o * fade[:, None] + e @ V
