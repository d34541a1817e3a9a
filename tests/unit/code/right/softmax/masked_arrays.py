import numpy as np
import numpy.ma as ma


def softmax(x, axis=-1):
    shifted = ma.masked_invalid(x) - np.max(x, axis=axis, keepdims=True)
    e = ma.exp(shifted)
    return np.asarray(e.filled(0) / e.filled(0).sum(axis=axis, keepdims=True))
