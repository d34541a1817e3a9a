import numpy as np


def sigmoid(z):
    return (1 + np.tanh(z / 2)) / 2


def rnn_forward(X, W, U, h0):
    h, states = h0, []
    for x in X:
        h = sigmoid(U @ h + W @ x)
        states.append(h)
    return np.stack(states)


def rnn_forward_where_sizes_allow(X, W, U, h0):
    if W.shape == U.shape:
        return rnn_forward(X, W, U, h0)
    h, states = h0, []
    for x in X:
        h = sigmoid(W @ h + U @ x)
        states.append(h)
    return np.stack(states)
