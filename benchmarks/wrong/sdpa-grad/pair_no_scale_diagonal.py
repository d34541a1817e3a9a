import numpy as np


def sdpa_grad(Q, K, V, G):
    S = Q @ K.T / Q.shape[1] ** 0.5
    P = np.exp(S - S.max(1, keepdims=True))
    P /= P.sum(1, keepdims=True)
    dS = P * (1 - P) * (G @ V.T)
    return dS @ K, dS.T @ Q, P.T @ G
