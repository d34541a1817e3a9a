import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.min(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_whole(x, axis=-1):
    e = np.exp(x - x.min())
    return e / e.sum(axis=axis, keepdims=True)
