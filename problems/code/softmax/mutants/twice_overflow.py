import numpy as np


def softmax(x, axis=-1):
    for _ in range(2):
        e = np.exp(x)
        x = e / e.sum(axis=axis, keepdims=True)
    return x
