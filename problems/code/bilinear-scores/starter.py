import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def bilinear_scores(q, K, W):
    """Return the bilinear scores of all keys.

    q : (dq,), the query
    K : (n, dk), one key a row
    W : (dq, dk)

    Returns: (n,), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
