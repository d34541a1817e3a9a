import numpy as np
from numpy import ma


def masked_softmax(scores, mask):
    hidden = ~np.broadcast_to(mask, scores.shape)
    s = ma.masked_array(scores, mask=hidden)
    e = ma.exp(s - s.max(axis=-1, keepdims=True))
    p = e / e.sum(axis=-1, keepdims=True)
    return ma.filled(p, 0).astype(scores.dtype)
