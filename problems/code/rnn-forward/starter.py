import numpy as np  # or: import torch (then the arrays arrive as tensors, and the result must be one)


def rnn_forward(X, W, U, h0):
    """Return all states of a simple recurrent network.

    X : (T, dx), one input a row
    W : (dh, dh), for the state before
    U : (dh, dx), for the input
    h0 : (dh,), the state before the first input

    Returns: (T, dh), without h0.
    """
    raise NotImplementedError("write me")
