import numpy as np


def online_softmax(m, l, o, x, V):
    """One key at a time, as in Milakov and Gimelshein."""
    for j in range(x.shape[1]):
        score = x[:, j]
        larger = np.maximum(m, score)
        old, new = np.exp(m - larger), np.exp(score - larger)
        l = l * old + new
        o = o * old[:, None] + np.outer(new, V[j])
        m = larger
    return m, l, o
