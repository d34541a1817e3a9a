import numpy as np


def concat_scores(q, K, W1, w2):
    dq = q.shape[0]
    pair = np.zeros((K.shape[0], dq + K.shape[1]))
    pair[:, :dq] = q
    pair[:, dq:] = K
    return np.tanh(pair @ W1.T) @ w2
