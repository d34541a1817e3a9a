import numpy as np


def stable_sigmoid(z):
    out = np.empty_like(z)
    positive = z >= 0
    out[positive] = 1 / (1 + np.exp(-z[positive]))
    e = np.exp(z[~positive])
    out[~positive] = e / (1 + e)
    return out


def rnn_forward(X, W, U, h0):
    weight = np.concatenate((W, U), axis=1)
    if W.shape[0] != W.shape[1] or len(h0) != len(W):
        raise ValueError("W must be square and fit h0")
    h, all_states = h0, []
    for x in X:
        h = stable_sigmoid(weight @ np.concatenate((h, x)))
        all_states.append(h)
    return np.array(all_states)
