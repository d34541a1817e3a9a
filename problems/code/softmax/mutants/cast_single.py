import numpy as np


def softmax(x, axis=-1):
    y = x.astype(np.float32)
    e = np.exp(y - y.max(axis=axis, keepdims=True))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)
