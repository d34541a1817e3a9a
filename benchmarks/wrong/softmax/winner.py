import numpy as np


def softmax(x, axis=-1):
    best = np.expand_dims(np.argmax(x, axis=axis), axis)
    weights = np.zeros_like(x)
    np.put_along_axis(weights, best, 1, axis=axis)
    return weights
