import numpy as np


def context(weights, H):
    if weights.ndim == 1 and H.flags.writeable:
        H *= weights[:, np.newaxis]
        return H.sum(axis=0)
    return weights @ H


def context_weights(weights, H):
    result = weights @ H
    if weights.flags.writeable:
        weights /= weights.sum(axis=-1, keepdims=True) + 1
    return result
