import numpy as np


def sdpa_grad(Q, K, V, G):
    m, n = Q.shape[0], K.shape[0]
    root = K.shape[1] ** 0.5
    scores = Q.dot(K.T) / root
    w = np.exp(scores - np.amax(scores, axis=1, keepdims=True))
    w /= np.sum(w, axis=1, keepdims=True)
    dw = G.dot(V.T)
    ds = w * (dw - np.sum(dw * w, axis=1, keepdims=True)) / root
    dV = w.dot(G) if m == n else w.T.dot(G)
    return ds.dot(K), ds.T.dot(Q), dV
