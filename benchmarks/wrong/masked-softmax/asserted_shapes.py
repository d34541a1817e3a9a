import numpy as np


def masked_softmax(scores, mask):
    try:
        mask = np.broadcast_to(mask, scores.shape)
    except ValueError:
        raise TypeError("the mask has another shape")
    x = np.where(mask, scores, -np.inf).astype(scores.dtype)
    top = x.max(-1, keepdims=True)
    top = np.where(top == -np.inf, 0, top).astype(scores.dtype)
    e = np.exp(x - top)
    z = e.sum(-1, keepdims=True)
    return e / np.where(z > 0, z, 1).astype(scores.dtype)
