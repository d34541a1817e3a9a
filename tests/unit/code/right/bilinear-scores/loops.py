import numpy as np


def bilinear_scores(q, K, W):
    dq, dk = W.shape
    if len(q) != dq:
        raise ValueError("q doesn't fit W")
    if K.shape[1] != dk:
        raise ValueError("K doesn't fit W")
    scores = np.zeros(K.shape[0], dtype=K.dtype)
    for j in range(K.shape[0]):
        total = 0.0
        for a in range(dq):
            for b in range(dk):
                total += float(q[a]) * float(W[a, b]) * float(K[j, b])
        scores[j] = total
    return scores
