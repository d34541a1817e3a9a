import numpy as np


def context(weights, H):
    """c_k is the inner product of the weights with feature k of all states."""
    return np.inner(weights, np.transpose(H))
