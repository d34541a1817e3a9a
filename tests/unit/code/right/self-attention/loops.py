import math

import numpy as np


def self_attention(X, Wq, Wk, Wv, causal=False):
    n, d = X.shape
    if Wq.shape[0] != d or Wk.shape != Wq.shape or Wv.shape[0] != d:
        raise ValueError("the projections don't fit X")
    dk, dv = Wq.shape[1], Wv.shape[1]

    def project(W, i):
        return [sum(float(X[i, a]) * float(W[a, b]) for a in range(d)) for b in range(W.shape[1])]

    queries = [project(Wq, i) for i in range(n)]
    keys = [project(Wk, i) for i in range(n)]
    values = [project(Wv, i) for i in range(n)]
    out = np.zeros((n, dv), dtype=X.dtype)
    for i in range(n):
        last = i if causal else n - 1
        scores = []
        for j in range(last + 1):
            scores.append(sum(queries[i][b] * keys[j][b] for b in range(dk)) / math.sqrt(dk))
        top = max(scores)
        e = [math.exp(score - top) for score in scores]
        for b in range(dv):
            out[i, b] = sum(e[j] * values[j][b] for j in range(last + 1)) / sum(e)
    return out
