import numpy as np


def _check(X, W, U, h0):
    if W.shape != (len(h0), len(h0)) or U.shape != (len(h0), X.shape[1]):
        raise ValueError("shapes don't fit")


def _sigmoid(z):
    return (1 + np.tanh(z / 2)) / 2


def rnn_forward(X, W, U, h0):
    _check(X, W, U, h0)
    states, h = [], np.zeros_like(h0)
    for x in X:
        h = _sigmoid(h @ W + U @ x)
        states.append(h)
    return np.array(states, X.dtype)
