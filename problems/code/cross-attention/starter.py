import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    """Return what the tokens of X find in the tokens of M.

    X : (..., m, d), the decoder's tokens
    M : (..., n, e), the encoder's tokens
    Wq, Wk, Wv : (d, dk), (e, dk) and (e, dv)
    mask : (m, n), boolean; True where a row of X may see a row of M
    present : (..., n), boolean; False where a row of M is padding

    Returns: (..., m, dv), of the arguments' dtype; zeros where a row of X sees nothing.
    """
    raise NotImplementedError("write me")
