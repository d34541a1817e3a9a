import numpy as np


def online_softmax(m, l, o, x, V):
    m, l, o, x, V = (a.astype(np.float64) for a in (m, l, o, x, V))
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V


def online_softmax_output(m, l, o, x, V):
    top, l, o = online_softmax(m, l, o, x, V)
    return top.astype(x.dtype), l.astype(x.dtype), o
