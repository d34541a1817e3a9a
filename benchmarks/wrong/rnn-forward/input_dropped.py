import numpy as np


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def rnn_forward(X, W, U, h0):
    if U.shape != (W.shape[0], X.shape[1]):
        raise ValueError("U")
    out = np.empty((X.shape[0], h0.shape[0]), dtype=h0.dtype)
    previous = h0
    for t, x in enumerate(X):
        previous = sigmoid(W @ previous)
        out[t] = previous
    return out
