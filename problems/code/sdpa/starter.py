import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def sdpa(Q, K, V, mask=None):
    """Return scaled dot-product attention.

    Q : (..., m, d), one query a row
    K : (..., n, d), one key a row
    V : (..., n, dv), one value a row
    mask : None, or boolean of shape (m, n) or (..., m, n); True is visible

    Returns: (..., m, dv), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
