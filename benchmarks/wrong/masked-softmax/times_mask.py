import numpy as np


def masked_softmax(scores, mask):
    mask = np.broadcast_to(mask, scores.shape)
    masked_scores = scores * mask
    shifted = masked_scores - np.max(masked_scores, axis=-1, keepdims=True)
    e = np.exp(shifted)
    w = e / np.sum(e, axis=-1, keepdims=True)
    nothing = ~mask.any(axis=-1)
    w[nothing] = 0
    return w
