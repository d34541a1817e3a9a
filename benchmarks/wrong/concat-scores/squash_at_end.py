import numpy as np


def concat_scores(q, K, W1, w2):
    dq = q.shape[0]
    if W1.shape[1] != dq + K.shape[1]:
        raise ValueError("W1 does not fit")
    direction = w2 @ W1
    return np.tanh(K @ direction[dq:] + q @ direction[:dq])
