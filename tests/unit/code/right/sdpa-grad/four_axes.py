import numpy as np


def sdpa_grad(Q, K, V, G):
    m, n = Q.shape[0], K.shape[0]
    if Q.shape[1:] != K.shape[1:] or V.shape[:1] != K.shape[:1] or G.shape != (m, V.shape[1]):
        raise ValueError("arguments don't fit")
    root = np.sqrt(np.array(Q.shape[1], dtype=Q.dtype))
    S = np.tensordot(Q, K, axes=(1, 1)) / root
    with np.errstate(over="ignore"):
        W = 1 / np.exp(S[:, None, :] - S[:, :, None]).sum(axis=2)
    identity = np.eye(n, dtype=Q.dtype)
    # J[i, j, k] = dW[i, j] / dS[i, k]
    J = W[:, :, None] * (identity[None] - W[:, None, :])
    dS = ((G @ V.T)[:, :, None] * J).sum(axis=1) / root
    return dS.dot(K), dS.T.dot(Q), W.T.dot(G)
