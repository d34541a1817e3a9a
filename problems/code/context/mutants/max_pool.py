import numpy as np


def context(weights, H):
    return (weights[..., np.newaxis] * H).max(axis=-2)


def context_largest(weights, H):
    return np.take_along_axis(
        weights[..., np.newaxis] * H, weights.argmax(axis=-1)[..., np.newaxis, np.newaxis], axis=-2
    )[..., 0, :]
