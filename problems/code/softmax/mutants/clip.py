import numpy as np


def softmax(x, axis=-1, bound=700):
    e = np.exp(np.clip(x.astype(np.float64), -bound, bound))
    return (e / e.sum(axis=axis, keepdims=True)).astype(x.dtype)


def softmax_500(x, axis=-1):
    return softmax(x, axis, 500)


def softmax_100(x, axis=-1):
    return softmax(x, axis, 100)


def softmax_50(x, axis=-1):
    return softmax(x, axis, 50)
