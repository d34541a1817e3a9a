import numpy as np


def grouped_query_attention(Q, K, V):
    """All queries of a group stand below one another: (g, r m, d)."""
    (h, m, d), (g, n, dk), (gv, nv, dv) = Q.shape, K.shape, V.shape
    if d != dk or g != gv or n != nv or h % g > 0:
        raise ValueError(f"{Q.shape} {K.shape} {V.shape}")
    stacked = np.ascontiguousarray(Q).reshape(g, -1, d)
    scores = np.matmul(stacked, np.transpose(K, (0, 2, 1))) / float(d) ** 0.5
    scores = scores - scores.max(axis=2, keepdims=True)
    weights = np.exp(scores)
    weights = weights / weights.sum(axis=2, keepdims=True)
    return np.matmul(weights, V).reshape((h, m, dv))
