import numpy as np


def softmax(x, axis=-1):
    p = np.exp2(x - x.max(axis=axis, keepdims=True))
    return p / p.sum(axis=axis, keepdims=True)


def softmax_unshifted(x, axis=-1):
    p = 2.0**x
    return (p / p.sum(axis=axis, keepdims=True)).astype(x.dtype)
