import numpy as np


def online_softmax(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    weight = l * np.exp(m)
    fade = np.exp(np.log(weight) - np.log(l) - top)
    e = np.exp(x - top[:, None])
    return top, l * fade + e.sum(axis=1), o * fade[:, None] + e @ V


def online_softmax_ratio(m, l, o, x, V):
    top = np.maximum(m, x.max(axis=1))
    before = l * np.exp(m - top)
    e = np.exp(x - top[:, None])
    return top, before + e.sum(axis=1), (o / l[:, None]) * before[:, None] + e @ V
