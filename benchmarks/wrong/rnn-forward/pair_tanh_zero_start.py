import numpy as np


def rnn_forward(X, W, U, h0):
    if W.shape[1] != h0.shape[0]:
        raise ValueError("h0")
    h = np.zeros_like(h0)
    H = []
    for x in X:
        h = np.tanh(W @ h + U @ x)
        H.append(h)
    return np.array(H)
