import math

import numpy as np


def grouped_query_attention(Q, K, V):
    h, m, d = Q.shape
    g, n, _ = K.shape
    if K.shape[2] != d or V.shape[:2] != (g, n) or h % g:
        raise ValueError(f"shapes don't fit: Q {Q.shape}, K {K.shape}, V {V.shape}")
    grouped = Q.reshape(g, h // g, m, d)  # neighbouring heads share a group
    scores = grouped @ K[:, None].swapaxes(-1, -2) / math.sqrt(d)  # (g, h/g, m, n)
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return (weights @ V[:, None]).reshape(h, m, V.shape[2])
