import numpy as np


def softmax(x, axis=-1):
    return x / x.sum(axis=axis, keepdims=True)
