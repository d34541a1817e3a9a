import numpy as np


def context(weights, H):
    return np.zeros((*weights.shape[:-1], 1), H.dtype) + H.sum(axis=0)
