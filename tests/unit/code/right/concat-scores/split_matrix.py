import numpy as np


def concat_scores(q, K, W1, w2):
    """W1 [q; k] = Wq q + Wk k, where Wq are the first dq columns of W1."""
    dq, dk = q.shape[0], K.shape[1]
    if W1.shape != (w2.shape[0], dq + dk):
        raise ValueError("W1 must have one row per entry of w2 and dq + dk columns")
    Wq, Wk = np.split(W1, [dq], axis=1)
    return np.tanh(Wq @ q + K @ Wk.T) @ w2
