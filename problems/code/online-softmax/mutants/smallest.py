import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.where(np.isinf(m), x.min(axis=1), np.minimum(m, x.min(axis=1)))
    fade = np.where(np.isinf(m), 0, np.exp(m - top)).astype(V.dtype)
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
