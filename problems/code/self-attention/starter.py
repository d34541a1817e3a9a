import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def self_attention(X, Wq, Wk, Wv, causal=False):
    """Return self-attention over the rows of X.

    X : (n, d), one token a row
    Wq, Wk : (d, dk)
    Wv : (d, dv)
    causal : bool; if true, no token sees a later one

    Returns: (n, dv), in the dtype of the arguments.
    """
    raise NotImplementedError("write me")
