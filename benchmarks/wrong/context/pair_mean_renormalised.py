import numpy as np


def context(weights, H):
    n_states = H.shape[0]
    w = weights / np.sum(weights, axis=-1, keepdims=True)
    total = w @ H
    return total / n_states
