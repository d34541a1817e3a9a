import numpy as np


def softmax(x, axis=-1):
    total = np.sum(x, axis=axis, keepdims=True)
    return x / total
