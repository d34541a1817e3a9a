import numpy as np


def softmax(x, axis=-1):
    result = np.array(x, copy=True, order="C")
    np.subtract(result, result.max(axis, keepdims=True), out=result)
    np.exp(result, out=result)
    result /= result.sum(axis, keepdims=True)
    return result
