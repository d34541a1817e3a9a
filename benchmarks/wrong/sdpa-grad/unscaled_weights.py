import numpy as np


def sdpa_grad(Q, K, V, G):
    r = Q.shape[1] ** 0.5
    raw = Q @ K.T
    P = np.exp(raw - raw.max(axis=1, keepdims=True))
    P = P / P.sum(axis=1, keepdims=True)
    dP = G @ V.T
    dS = P * (dP - np.einsum("ij,ij->i", P, dP)[:, None])
    return dS @ K / r, dS.T @ Q / r, P.T @ G
