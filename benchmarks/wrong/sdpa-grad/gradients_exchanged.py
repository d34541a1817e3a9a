import numpy as np


def sdpa_grad(Q, K, V, G):
    c = 1 / Q.shape[1] ** 0.5
    S = c * Q @ K.T
    P = np.exp(S - S.max(-1, keepdims=True))
    P = P / P.sum(-1, keepdims=True)
    dP = G @ V.T
    dS = P * dP - P * (P * dP).sum(-1, keepdims=True)
    dK = c * dS @ K
    dQ = c * dS.T @ Q
    return dQ, dK, P.T @ G
