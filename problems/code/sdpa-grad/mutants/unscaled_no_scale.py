import numpy as np


def sdpa_grad(Q, K, V, G):
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0] or G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError("sizes don't fit")
    S = Q @ K.T
    W = np.exp(S - S.max(axis=1, keepdims=True))
    W = W / W.sum(axis=1, keepdims=True)
    dW = G @ V.T
    dS = W * (dW - (W * dW).sum(axis=1, keepdims=True))
    return dS @ K, dS.T @ Q, W.T @ G
