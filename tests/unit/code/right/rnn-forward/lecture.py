import numpy as np


def sigmoid(z):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-z))


def rnn_forward(X, W, U, h0):
    T, dx = X.shape
    dh = h0.shape[0]
    if W.shape != (dh, dh) or U.shape != (dh, dx):
        raise ValueError("W or U has the wrong shape")
    H = np.zeros((T, dh), dtype=X.dtype)
    h = h0
    for t in range(T):
        h = sigmoid(W @ h + U @ X[t])
        H[t] = h
    return H
