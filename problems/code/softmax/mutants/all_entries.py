import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x - x.max())
    return e / e.sum()


def softmax_rows_shifted(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum()
