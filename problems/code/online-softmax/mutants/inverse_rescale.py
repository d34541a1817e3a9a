import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    fade = np.where(np.isinf(m), 0, np.exp(top - m)).astype(V.dtype)
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
