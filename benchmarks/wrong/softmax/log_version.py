import numpy as np


def softmax(x, axis=-1):
    m = np.max(x, axis, keepdims=True)
    lse = m + np.log(np.exp(x - m).sum(axis, keepdims=True))
    return x - lse
