import numpy as np


def sigma(z):
    return 0.5 * (np.tanh(z / 2) + 1)


def rnn_forward(X, W, U, h0):
    h = h0
    out = np.zeros((len(X), len(h0)), dtype=X.dtype)
    for t in range(len(X)):
        if W.shape == U.shape:
            h = sigma(U @ h + W @ X[t])
        else:
            h = sigma(W @ h + U @ X[t])
        out[t] = h
    return out
