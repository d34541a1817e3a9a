import numpy as np


def softmax(x, axis=-1):
    y = x - x.max(axis=axis, keepdims=True)
    return y - np.log(np.exp(y).sum(axis=axis, keepdims=True))
