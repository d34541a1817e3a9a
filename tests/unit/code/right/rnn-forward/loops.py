import math

import numpy as np


def logistic(z):
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    return math.exp(z) / (1 + math.exp(z))


def rnn_forward(X, W, U, h0):
    T, dx = X.shape
    dh = len(h0)
    if W.shape != (dh, dh):
        raise ValueError("W")
    if U.shape != (dh, dx):
        raise ValueError("U")
    states = np.empty((T, dh), h0.dtype)
    old = h0.tolist()
    for t in range(T):
        new = []
        for i in range(dh):
            z = 0.0
            for j in range(dh):
                z += float(W[i, j]) * old[j]
            for k in range(dx):
                z += float(U[i, k]) * float(X[t, k])
            new.append(logistic(z))
        states[t] = new
        old = new
    return states
