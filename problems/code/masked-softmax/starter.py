import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def masked_softmax(scores, mask):
    """Return the softmax of the visible scores along the last axis, and 0 for hidden ones.

    scores : (..., n)
    mask : boolean, of any shape that broadcasts to that of scores; True is visible

    Returns: of the shape and dtype of scores.
    """
    raise NotImplementedError("write me")
