import numpy as np


def softmax(x, axis=-1):
    e = np.exp2(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
