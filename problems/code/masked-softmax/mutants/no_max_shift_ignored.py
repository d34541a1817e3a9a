import numpy as np


def masked_softmax(scores, mask):
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True)
