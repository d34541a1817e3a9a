import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def rotary_positions(x, positions, base=10000.0):
    """Return x with every pair of neighbouring entries turned by an angle that grows with the position.

    x : (..., n, d), d even
    positions : (n,), floating, not always 0, 1, 2, ...
    base : float

    Returns: of the shape and dtype of x.
    """
    raise NotImplementedError("write me")
