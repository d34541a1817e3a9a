import numpy as np


def softmax(x, axis=0):
    # normalise the columns
    biggest = np.max(x, axis=axis, keepdims=True)
    powers = np.exp(x - biggest)
    total = np.sum(powers, axis=axis, keepdims=True)
    return powers / total
