import math

import numpy as np


def sdpa_grad(Q, K, V, G):
    (m, d), (n, dv) = Q.shape, V.shape
    if K.shape != (n, d):
        raise ValueError("K")
    if G.shape != (m, dv):
        raise ValueError("G")
    dQ, dK, dV = (np.zeros(A.shape, dtype=np.float64) for A in (Q, K, V))
    root = math.sqrt(d)
    for i in range(m):
        scores = [sum(float(Q[i, a]) * float(K[j, a]) for a in range(d)) / root for j in range(n)]
        top = max(scores)
        e = [math.exp(score - top) for score in scores]
        w = [x / sum(e) for x in e]
        dw = [sum(float(G[i, b]) * float(V[j, b]) for b in range(dv)) for j in range(n)]
        mean = sum(w[j] * dw[j] for j in range(n))
        for j in range(n):
            ds = w[j] * (dw[j] - mean) / root
            for a in range(d):
                dQ[i, a] += ds * float(K[j, a])
                dK[j, a] += ds * float(Q[i, a])
            for b in range(dv):
                dV[j, b] += w[j] * float(G[i, b])
    return dQ.astype(Q.dtype), dK.astype(Q.dtype), dV.astype(Q.dtype)
