import numpy as np


def sdpa_grad(Q, K, V, G):
    S = Q @ K.T / Q.shape[1] ** 0.5
    P = np.exp(S - S.max(axis=1, keepdims=True))
    P = P / P.sum(axis=1, keepdims=True)
    dV = P.T @ G
    dP = G @ V.T
    dS = P * (dP - (dP * P).sum(axis=1, keepdims=True))
    return dS @ K, dS.T @ Q, dV
