import numpy as np


def sigmoid(z):
    return (1 + np.tanh(z / 2)) / 2


def rnn_forward(X, W, U, h0):
    X[:] = X @ np.eye(X.shape[1], dtype=X.dtype) + 1
    h, states = h0, []
    for x in X - 1:
        h = sigmoid(W @ h + U @ x)
        states.append(h)
    return np.stack(states)
