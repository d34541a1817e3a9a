import numpy as np  # or: import torch (then the array arrives as a tensor, and the result must be one)


def attention_entropy(A, normalised=False):
    """Return the entropy of each row of attention weights, in nats.

    A : (..., n), weights that are at least 0 and sum to 1 along the last axis
    normalised : bool, whether to divide by the largest entropy that n weights can have

    Returns: of the shape of A without its last axis, in its dtype.
    """
    raise NotImplementedError("write me")
