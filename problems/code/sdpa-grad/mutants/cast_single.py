import numpy as np


def sdpa_grad(Q, K, V, G):
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0] or G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError("sizes don't fit")
    kind, (Q, K, V, G) = Q.dtype, (array.astype(np.float32) for array in (Q, K, V, G))
    c = Q.shape[1] ** 0.5
    S = Q @ K.T / c
    W = np.exp(S - S.max(axis=1, keepdims=True))
    W = W / W.sum(axis=1, keepdims=True)
    dW = G @ V.T
    dS = W * (dW - (W * dW).sum(axis=1, keepdims=True)) / c
    return tuple(part.astype(kind) for part in (dS @ K, dS.T @ Q, W.T @ G))


def sdpa_grad_scale(Q, K, V, G):
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0] or G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError("sizes don't fit")
    c = np.sqrt(np.float32(Q.shape[1])).astype(Q.dtype)
    S = Q @ K.T / c
    W = np.exp(S - S.max(axis=1, keepdims=True))
    W = W / W.sum(axis=1, keepdims=True)
    dW = G @ V.T
    dS = W * (dW - (W * dW).sum(axis=1, keepdims=True)) / c
    return dS @ K, dS.T @ Q, W.T @ G
