import numpy as np


def causal_mask(n):
    """Row i of the identity has its one at i; from the right, the running maximum fills j <= i."""
    if n < 0:
        raise ValueError("n")
    return np.logical_or.accumulate(np.eye(n, dtype=bool)[:, ::-1], axis=1)[:, ::-1]
