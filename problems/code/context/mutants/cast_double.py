import numpy as np


def context(weights, H):
    return weights.astype(np.float64) @ H
