import numpy as np


def bilinear_scores(q, K, W):
    kind = K.dtype
    q, K, W = (a.astype(np.float32) for a in (q, K, W))
    return (K @ (W.T @ q)).astype(kind)
