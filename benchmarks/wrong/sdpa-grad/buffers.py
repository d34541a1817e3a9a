import numpy as np


def sdpa_grad(Q, K, V, G):
    m, d = Q.shape
    r = d**0.5
    if G.shape != (m, V.shape[1]) or K.shape[0] != V.shape[0]:
        raise ValueError("sizes")
    dQ, dK, dV = np.zeros(Q.shape), np.zeros(K.shape), np.zeros(V.shape)
    for i in range(m):
        s = K @ Q[i] / r
        w = np.exp(s - s.max())
        w = w / w.sum()
        dw = V @ G[i]
        ds = w * (dw - w @ dw) / r
        dQ[i] = ds @ K
        dK += np.outer(ds, Q[i])
        dV += np.outer(w, G[i])
    return dQ, dK, dV
