import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def softmax(x, axis=-1):
    """Return the softmax of x along an axis.

    x : any shape with at least one axis
    axis : int, may be negative

    Returns: of the shape and dtype of x.
    """
    raise NotImplementedError("write me")
