import numpy as np


def softmax(x, axis=-1):
    best = np.expand_dims(x.argmax(axis=axis), axis)
    w = np.zeros_like(x)
    np.put_along_axis(w, best, 1, axis)
    return w
