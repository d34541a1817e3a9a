import numpy as np


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    e = np.exp(scores)
    return e / e.sum(axis=-1, keepdims=True) * seen.astype(scores.dtype)
