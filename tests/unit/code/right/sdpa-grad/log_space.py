import numpy as np


def sdpa_grad(Q, K, V, G):
    sizes = Q.shape + V.shape
    if K.shape != (sizes[2], sizes[1]) or G.shape != (sizes[0], sizes[3]):
        raise ValueError("Q, K, V, G")
    c = Q.shape[1] ** -0.5
    e = np.einsum("id,jd->ij", Q, K) * c
    w = np.exp(e - np.logaddexp.reduce(e, axis=1, keepdims=True))
    dw = np.einsum("iv,jv->ij", G, V)
    de = np.einsum("ij,ij->ij", w, dw) - np.einsum("ij,ik,ik->ij", w, w, dw)
    return (
        np.einsum("ij,jd->id", de, K) * c,
        np.einsum("ij,id->jd", de, Q) * c,
        np.einsum("ij,iv->jv", w, G),
    )
