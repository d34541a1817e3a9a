import numpy as np


def masked_softmax(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    w = scores * seen.astype(scores.dtype)
    total = w.sum(axis=-1, keepdims=True)
    return w / np.where(total == 0, 1, total)


def masked_softmax_nan(scores, mask):
    seen = np.broadcast_to(mask, scores.shape)
    w = scores * seen.astype(scores.dtype)
    return w / w.sum(axis=-1, keepdims=True)
