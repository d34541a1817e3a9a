import numpy as np


def bilinear_scores(q, K, W):
    if (q.shape[0], K.shape[1]) != W.shape:
        raise ValueError("W must be (dq, dk)")
    out = np.zeros(K.shape[0], dtype=q.dtype)
    for j in range(K.shape[0]):
        # sum of q_i W_ii k_i
        for i in range(min(W.shape)):
            out[j] += q[i] * W[i, i] * K[j, i]
    return out
