import numpy as np


def online_softmax(m, l, o, x, V):
    block_max = x.max(axis=1)
    p = np.exp(x - block_max[:, None])
    m2 = np.maximum(m, block_max)
    a = np.exp(m - m2)
    return m2, a * l + p.sum(axis=1), a[:, None] * o + p @ V
