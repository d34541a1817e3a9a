import numpy as np


def sdpa_grad(Q, K, V, G):
    """One query at a time with the whole Jacobian diag(w) - w w^T."""
    if Q.shape[1] != K.shape[1] or K.shape[0] != V.shape[0] or G.shape != (Q.shape[0], V.shape[1]):
        raise ValueError("shape mismatch")
    dQ, dK, dV = np.zeros_like(Q), np.zeros_like(K), np.zeros_like(V)
    root = Q.dtype.type(Q.shape[1]) ** Q.dtype.type(0.5)
    for i, (q, g) in enumerate(zip(Q, G)):
        e = np.exp((K @ q - (K @ q).max()) / root)
        w = e / e.sum()
        J = np.diag(w) - np.outer(w, w)
        ds = J @ (V @ g)
        dQ[i] = K.T @ ds / root
        dK += np.outer(ds, q) / root
        dV += np.outer(w, g)
    return dQ, dK, dV
