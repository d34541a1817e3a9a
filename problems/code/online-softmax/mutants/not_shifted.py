import numpy as np


def online_softmax(m, l, o, x, V):
    e = np.exp(x)
    return np.maximum(m, x.max(axis=1)), l + e.sum(axis=1), o + e @ V


def online_softmax_faded(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.exp(m - top)
    e = np.exp(x)
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
