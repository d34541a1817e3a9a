import numpy as np


def masked_softmax(scores, mask):
    m = np.broadcast_to(mask, scores.shape).astype(scores.dtype)
    lowest = scores.min(axis=-1, keepdims=True)
    # hidden positions take the row's smallest score, so they never raise the maximum
    shown = scores * m + lowest * (1 - m)
    e = np.exp(shown - shown.max(axis=-1, keepdims=True)) * m
    total = e.sum(axis=-1, keepdims=True)
    return e / (total + (total == 0))
