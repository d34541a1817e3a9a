import numpy as np


def sdpa_grad(Q, K, V, G):
    m, d = Q.shape
    n, dv = V.shape
    if K.shape != (n, d) or G.shape != (m, dv):
        raise ValueError("sizes don't fit")
    scale = Q.dtype.type(1 / np.sqrt(d))
    # forward
    S = scale * (Q @ K.T)
    S = S - S.max(axis=1, keepdims=True)
    W = np.exp(S)
    W = W / W.sum(axis=1, keepdims=True)
    # backward
    dV = W.T @ G
    dW = G @ V.T
    dS = W * (dW - np.sum(W * dW, axis=1, keepdims=True))
    dQ = scale * (dS @ K)
    dK = scale * (dS.T @ Q)
    return dQ, dK, dV
