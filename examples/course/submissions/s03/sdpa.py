from math import exp, sqrt

import numpy as np


def one_row(q, K, V, allowed):
    scores = [sum(float(a) * float(b) for a, b in zip(q, k)) / sqrt(len(q)) for k in K]
    visible = [s for s, ok in zip(scores, allowed) if ok]
    if not visible:
        return [0.0] * V.shape[1]
    top = max(visible)
    w = [exp(s - top) if ok else 0.0 for s, ok in zip(scores, allowed)]
    return [sum(wj * float(vj) for wj, vj in zip(w, column)) / sum(w) for column in V.T]


def sdpa(Q, K, V, mask=None):
    """Plain loops, so that I can see what happens."""
    if Q.ndim > 2:
        parts = []
        for b in range(Q.shape[0]):
            m = mask if mask is None or mask.ndim == 2 else mask[b]
            parts.append(sdpa(Q[b], K[b], V[b], m))
        return np.stack(parts)
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0]:
        raise ValueError("shapes of Q, K, V")
    if mask is None:
        mask = np.ones((Q.shape[0], K.shape[0]), dtype=bool)
    elif mask.shape != (Q.shape[0], K.shape[0]):
        raise ValueError("shape of mask")
    return np.array([one_row(q, K, V, row) for q, row in zip(Q, mask)], dtype=Q.dtype)
