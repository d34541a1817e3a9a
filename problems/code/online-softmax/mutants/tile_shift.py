import numpy as np


def online_softmax(m, l, o, x, V):
    tile = x.max(axis=1)
    top = np.maximum(m, tile)
    fade = np.exp(m - top)
    e = np.exp(x - tile[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V
