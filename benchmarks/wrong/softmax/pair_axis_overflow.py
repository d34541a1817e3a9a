import numpy as np


def softmax(x, axis=0):
    a = np.exp(x)
    b = np.sum(a, axis=axis, keepdims=True)
    return a / b
