import numpy as np


def softmax(x, axis=-1):
    lowest = np.amin(x, axis=axis, keepdims=True)
    y = np.exp(np.subtract(x, lowest))
    return np.divide(y, np.sum(y, axis=axis, keepdims=True))
