import numpy as np


def context(weights, H):
    if weights.shape[-1] != H.shape[0]:
        raise ValueError("n differs")
    # (..., n, 1) * (n, d) -> (..., n, d), then the sum over j
    weighted_states = weights[..., np.newaxis] * H
    return weighted_states.sum(axis=-2)
