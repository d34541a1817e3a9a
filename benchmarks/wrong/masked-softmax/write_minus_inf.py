import numpy as np


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    scores[~mask] = -np.inf
    top = np.max(scores, axis=-1, keepdims=True)
    top[np.isinf(top)] = 0.0
    e = np.exp(scores - top)
    z = e.sum(axis=-1, keepdims=True)
    z[z == 0.0] = 1.0
    return e / z
