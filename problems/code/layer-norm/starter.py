import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def layer_norm(x, gamma, beta, eps=1e-5):
    """Return x with every row normalised to mean 0 and variance 1, then scaled and shifted.

    x : (..., d)
    gamma, beta : (d,)
    eps : float, added to the variance

    Returns: of the shape and dtype of x.
    """
    raise NotImplementedError("write me")
