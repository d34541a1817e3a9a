import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def concat_scores(q, K, W1, w2):
    """Return the scores that a network of two layers gives all keys.

    q : (dq,), the query
    K : (n, dk), one key a row
    W1 : (da, dq + dk)
    w2 : (da,)

    Returns: (n,), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
