import math

import numpy as np


def grouped_query_attention(Q, K, V):
    h, g = len(Q), len(K)
    if h % g != 0 or len(V) != g or K.shape[1] != V.shape[1] or Q.shape[2] != K.shape[2]:
        raise ValueError("sizes")
    out = np.zeros((h, Q.shape[1], V.shape[2]), dtype=Q.dtype)
    size = h // g
    for head in range(h):
        group = head // size
        for i in range(Q.shape[1]):
            scores = []
            for j in range(K.shape[1]):
                dot = sum(float(a) * float(b) for a, b in zip(Q[head, i], K[group, j], strict=True))
                scores.append(dot / math.sqrt(Q.shape[2]))
            top = max(scores)
            e = [math.exp(s - top) for s in scores]
            for c in range(V.shape[2]):
                out[head, i, c] = sum(w * float(v) for w, v in zip(e, V[group, :, c], strict=True)) / sum(e)
    return out
