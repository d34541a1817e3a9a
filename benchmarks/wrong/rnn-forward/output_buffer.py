import numpy as np


def rnn_forward(X, W, U, h0):
    T, dh = X.shape[0], W.shape[0]
    H = np.zeros((T + 1, dh))
    H[0] = h0
    for t in range(T):
        H[t + 1] = (1 + np.tanh((W @ H[t] + U @ X[t]) / 2)) / 2
    return H[1:]
