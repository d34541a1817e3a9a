import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    o *= fade[:, None]
    return top, l * fade + e.sum(axis=1), o + e @ V


def online_softmax_all(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    m[:] = top
    l[:] = l * fade + e.sum(axis=1)
    o[:] = o * fade[:, None] + e @ V
    return m, l, o


def online_softmax_scores(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    x -= top[:, None]
    e = np.exp(x)
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
