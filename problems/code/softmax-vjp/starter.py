import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def softmax_vjp(w, g):
    """Return the gradient with respect to the scores of a softmax.

    w : (..., n), the weights that softmax gave
    g : (..., n), the gradient with respect to them

    Returns: (..., n), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
