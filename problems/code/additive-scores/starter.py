import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def additive_scores(s, H, W, U, v):
    """Return the additive scores of all encoder states.

    s : (ds,), the decoder state
    H : (n, dh), one encoder state a row
    W : (da, ds)
    U : (da, dh)
    v : (da,)

    Returns: (n,), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
