import numpy as np


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    s = scores - scores.max(axis=-1, keepdims=True)
    result = np.exp(s)
    result = result / result.sum(axis=-1, keepdims=True)
    return result
