import numpy as np


def sdpa_grad(Q, K, V, G):
    d = Q.shape[1]
    S = (Q / d**0.5) @ K.T
    E = np.exp(S - S.max(1)[:, None])
    P = E / E.sum(1)[:, None]
    dP = np.einsum("ie,je->ij", G, V)
    dS = dP * P * (1 - P)
    return (dS @ K) / d**0.5, (dS.T @ Q) / d**0.5, P.T @ G
