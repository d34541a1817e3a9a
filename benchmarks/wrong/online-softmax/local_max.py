import numpy as np


def online_softmax(m, l, o, x, V):
    m_block = np.max(x, axis=-1)
    correction = np.exp(m - m_block)
    P = np.exp(x - m_block[:, np.newaxis])
    return m_block, correction * l + P.sum(-1), correction[:, np.newaxis] * o + P @ V
