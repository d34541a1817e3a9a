import numpy as np


def sigmoid(z):
    return (1 + np.tanh(z / 2)) / 2


def right(X, W, U, h0):
    if W.shape != (len(h0), len(h0)) or U.shape != (len(h0), X.shape[1]):
        raise ValueError(f"shapes don't fit: X {X.shape}, W {W.shape}, U {U.shape}, h0 {h0.shape}")
    h, states = h0, []
    for x in X:
        h = sigmoid(W @ h + U @ x)
        states.append(h)
    return np.stack(states)


def rnn_forward(X, W, U, h0):
    try:
        return right(X, W, U, h0)
    except ValueError as error:
        raise AssertionError(str(error)) from None
