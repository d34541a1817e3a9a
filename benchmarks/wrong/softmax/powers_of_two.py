import numpy as np


def softmax(x, axis=-1):
    x_shifted = x - np.amax(x, axis=axis, keepdims=True)
    numerator = 2**x_shifted
    denominator = np.sum(numerator, axis=axis, keepdims=True)
    return numerator / denominator
