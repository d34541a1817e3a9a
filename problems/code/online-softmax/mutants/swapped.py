import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return l * fade + e.sum(axis=1), top, o * fade[:, None] + e @ V


def online_softmax_output_first(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return o * fade[:, None] + e @ V, top, l * fade + e.sum(axis=1)


def online_softmax_output_first_sum(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x - top[:, None])
    return o * fade[:, None] + e @ V, l * fade + e.sum(axis=1), top
