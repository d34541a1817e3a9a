import numpy as np


def softmax(x, axis=-1):
    p = np.exp2(x - x.max(axis=axis, keepdims=True))
    return p / p.sum(axis=axis, keepdims=True)
