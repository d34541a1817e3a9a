import numpy as np


def softmax(x, axis=-1):
    centred = x - np.mean(x, axis=axis, keepdims=True)
    e = np.exp(centred)
    return e / e.sum(axis=axis, keepdims=True)
