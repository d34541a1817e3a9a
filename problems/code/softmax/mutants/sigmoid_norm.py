import numpy as np


def softmax(x, axis=-1):
    s = 1 / (1 + np.exp(-x))
    return s / s.sum(axis=axis, keepdims=True)
