import numpy as np


def bilinear_scores(q, K, W):
    """q^T W k = <W, q k^T>, the inner product of two matrices."""
    if W.shape != q.shape + K.shape[1:]:
        raise ValueError("shapes")
    return np.array([np.vdot(W, np.outer(q, k)) for k in K])
