import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x))
    s = np.sum(e, axis=axis)
    return e / s
