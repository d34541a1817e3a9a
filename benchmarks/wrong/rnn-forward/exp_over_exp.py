import numpy as np


def rnn_forward(X, W, U, h0):
    h = h0
    H = []
    for x in X:
        z = W @ h + U @ x
        h = np.exp(z) / (1 + np.exp(z))
        H.append(h)
    return np.array(H)
