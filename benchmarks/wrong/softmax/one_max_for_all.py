import numpy as np


def softmax(x, axis=-1):
    if x.size == 0:
        return np.array(x)
    m = np.max(x)
    e = np.exp(x - m)
    return e / np.expand_dims(e.sum(axis=axis), axis)
