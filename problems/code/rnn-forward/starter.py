import numpy as np


def rnn_forward(X, W, U, h0):
    """Return the states h_1 to h_T of a simple recurrent network, one a row."""
    raise NotImplementedError("write me")
