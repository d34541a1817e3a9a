import itertools
import math

import numpy as np


def sdpa(Q, K, V, mask=None):
    m, d = Q.shape[-2:]
    n, dv = V.shape[-2:]
    if K.shape[-2:] != (n, d):
        raise ValueError("shapes")
    if mask is not None and mask.shape[-2:] != (m, n):
        raise ValueError("mask")
    lead = Q.shape[:-2]
    if mask is not None:
        mask = np.broadcast_to(mask, (*lead, m, n))
    out = np.zeros((*lead, m, dv), dtype=Q.dtype)
    for at in itertools.product(*(range(size) for size in lead)):
        for i in range(m):
            scores = []
            for j in range(n):
                if mask is None or mask[at][i][j]:
                    total = sum(float(Q[at][i][c]) * float(K[at][j][c]) for c in range(d))
                    scores.append((total / d**0.5, j))
            if not scores:
                continue
            top = max(score for score, _ in scores)
            weights = [(math.exp(score - top), j) for score, j in scores]
            whole = sum(weight for weight, _ in weights)
            for c in range(dv):
                out[at][i][c] = sum(weight * float(V[at][j][c]) for weight, j in weights) / whole
    return out
