import numpy as np


def rnn_forward(X, W, U, h0):
    if W.shape != h0.shape * 2 or U.shape != h0.shape + X.shape[1:]:
        raise ValueError("sizes")
    if len(X) == 0:
        return np.empty((0, len(h0)), dtype=h0.dtype)
    z = np.clip(np.dot(W, h0) + np.dot(U, X[0]), -80, 80)
    h1 = 1.0 / (1.0 + np.exp(-z))
    return np.concatenate([h1[None, :], rnn_forward(X[1:], W, U, h1)])
