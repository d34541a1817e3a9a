import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def context(weights, H):
    """Return the context vector of each row of weights.

    weights : (..., n)
    H : (n, d), one encoder state a row

    Returns: (..., d), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
