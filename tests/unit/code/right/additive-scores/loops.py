import math

import numpy as np


def additive_scores(s, H, W, U, v):
    n, dh = H.shape
    da, ds = W.shape
    if len(s) != ds or U.shape != (da, dh) or len(v) != da:
        raise ValueError("wrong sizes")
    scores = []
    for j in range(n):
        score = 0.0
        for a in range(da):
            z = 0.0
            for k in range(ds):
                z += float(W[a, k]) * float(s[k])
            for k in range(dh):
                z += float(U[a, k]) * float(H[j, k])
            score += float(v[a]) * math.tanh(z)
        scores.append(score)
    return np.array(scores, dtype=s.dtype)
