import numpy as np


def softmax(x, axis=-1):
    # log space: log w = x - log sum exp x
    top = x.max(axis, keepdims=True)
    lse = top + np.log(np.exp(x - top).sum(axis, keepdims=True))
    return np.exp(x - lse)
