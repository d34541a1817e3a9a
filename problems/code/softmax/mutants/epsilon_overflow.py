import numpy as np


def softmax(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-8, dtype=x.dtype))


def softmax_1e7(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-7, dtype=x.dtype))


def softmax_1e6(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-6, dtype=x.dtype))


def softmax_1e5(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-5, dtype=x.dtype))


def softmax_1e4(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-4, dtype=x.dtype))


def softmax_1e3(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-3, dtype=x.dtype))


def softmax_1e2(x, axis=-1):
    e = np.exp(x)
    return e / (e.sum(axis=axis, keepdims=True) + np.asarray(1e-2, dtype=x.dtype))
