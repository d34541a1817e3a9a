import numpy as np


def bilinear_scores(q, K, W):
    if W.shape != (q.shape[0], K.shape[1]):
        raise ValueError(f"W must be ({q.shape[0]}, {K.shape[1]}), not {W.shape}")
    return np.einsum("a,ab,nb->n", q, W, K)
