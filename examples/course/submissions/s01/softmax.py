import numpy as np


def softmax(x, axis=-1):
    # subtract the maximum so that exp never overflows
    z = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(z)
    return e / np.sum(e, axis=axis, keepdims=True)
