import numpy as np


def merge(a, b):
    top = np.where(a[0] > b[0], a[0], b[0])
    wa, wb = np.exp(a[0] - top), np.exp(b[0] - top)
    return top, a[1] * wa + b[1] * wb, a[2] * wa[:, np.newaxis] + b[2] * wb[:, np.newaxis]


def online_softmax(m, l, o, x, V):
    m_tile = np.max(x, axis=1)
    p = np.exp(x - m_tile[:, np.newaxis])
    return merge((m, l, o), (m_tile, np.sum(p, axis=1), p @ V))
