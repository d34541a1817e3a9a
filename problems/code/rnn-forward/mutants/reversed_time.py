import numpy as np


def sigmoid(z):
    return (1 + np.tanh(z / 2)) / 2


def rnn_forward(X, W, U, h0):
    h, states = h0, []
    for x in X[::-1]:
        h = sigmoid(W @ h + U @ x)
        states.append(h)
    return np.stack(states)


def rnn_forward_kept_rows(X, W, U, h0):
    states = rnn_forward(X, W, U, h0)
    return states[::-1].copy()
