import numpy as np


def context(weights, H):
    return weights[..., np.newaxis] * H


def context_transposed(weights, H):
    return np.swapaxes(weights[..., np.newaxis] * H, -1, -2)
