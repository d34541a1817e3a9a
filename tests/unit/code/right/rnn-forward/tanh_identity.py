import numpy as np


def rnn_forward(X, W, U, h0):
    """sigmoid(z) = (1 + tanh(z / 2)) / 2 can't overflow."""
    (dh,) = h0.shape
    if not W.shape == (dh, dh) or U.shape[0] != dh:
        raise ValueError("dh")
    inputs = X @ U.T  # all at once, the recurrence can't be
    states = [h0]
    for u in inputs:
        states.append((1 + np.tanh((W @ states[-1] + u) / 2)) / 2)
    return np.stack(states[1:])
