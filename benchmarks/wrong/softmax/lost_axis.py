import numpy as np


def softmax(x, axis=-1):
    z = np.exp(x - x.max(axis=axis, keepdims=True))
    s = z.sum(axis=axis)
    return z / s
