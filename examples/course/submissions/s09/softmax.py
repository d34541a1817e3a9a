import numpy as np


def softmax(x, axis=-1):
    w = np.exp(x - x.max(axis=axis, keepdims=True))
    # normalise until it sums to one
    while not np.all(w.sum(axis=axis) == 1.0):
        w = w / w.sum(axis=0)
    return w
