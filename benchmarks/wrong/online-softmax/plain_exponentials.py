import numpy as np


def online_softmax(m, l, o, x, V):
    ex = np.exp(x)
    m = np.maximum(m, x.max(axis=1))
    return m, l + ex.sum(axis=1), o + ex.dot(V)
