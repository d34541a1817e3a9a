import numpy as np


def masked_softmax(scores, mask):
    visible = np.broadcast_to(mask, scores.shape)
    row_max = scores.max(axis=-1, keepdims=True)
    exps = np.exp(scores - row_max)
    exps[~visible] = 0
    sums = exps.sum(axis=-1, keepdims=True)
    sums[sums == 0] = 1
    return exps / sums
