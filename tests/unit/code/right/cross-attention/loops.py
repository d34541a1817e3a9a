import math

import numpy as np


def one(q, keys, values, seen):
    pairs = [
        (math.fsum(a * b for a, b in zip(q, k)) / math.sqrt(len(q)), v)
        for k, v, s in zip(keys, values, seen)
        if s
    ]
    if not pairs:
        return [0.0] * len(values[0])
    top = max(score for score, _ in pairs)
    weights = [math.exp(score - top) for score, _ in pairs]
    total = sum(weights)
    return [sum(w * v[c] for w, (_, v) in zip(weights, pairs)) / total for c in range(len(values[0]))]


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    m, n = X.shape[-2], M.shape[-2]
    if X.shape[:-2] != M.shape[:-2] or X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0]:
        raise ValueError("tokens")
    if Wk.shape[0] != Wv.shape[0] or Wk.shape[1] != Wq.shape[1]:
        raise ValueError("projections")
    if mask.shape != (m, n) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    out = np.zeros((*X.shape[:-1], Wv.shape[1]), X.dtype)
    for at in np.ndindex(*X.shape[:-2]):
        queries, keys, values = (X[at] @ Wq).tolist(), (M[at] @ Wk).tolist(), (M[at] @ Wv).tolist()
        for i in range(m):
            seen = [bool(mask[i, j]) and bool(present[at][j]) for j in range(n)]
            out[(*at, i)] = one(queries[i], keys, values, seen)
    return out
