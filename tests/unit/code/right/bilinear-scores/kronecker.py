import numpy as np


def bilinear_scores(q, K, W):
    if (q.size, K.shape[-1]) != W.shape:
        raise ValueError("W")
    flat = W.reshape(-1)  # row by row, so it goes with q (x) k
    return np.fromiter((flat @ np.kron(q, k) for k in K), dtype=q.dtype, count=len(K))
