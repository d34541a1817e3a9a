import numpy as np


def causal_mask(n):
    if n < 0:
        raise ValueError(f"n = {n}")
    positions = np.arange(n)
    return positions[None, :] <= positions[:, None]
