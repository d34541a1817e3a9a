import numpy as np


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1]:
        raise ValueError("Q and K")
    if K.shape[-2] != V.shape[-2]:
        raise ValueError("K and V")
    scores = np.einsum("...md,...nd->...mn", Q, K) * Q.shape[-1] ** -0.5
    if mask is not None:
        if mask.shape[-1] != scores.shape[-1] or mask.shape[-2] != scores.shape[-2]:
            raise ValueError("mask")
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    with np.errstate(invalid="ignore"):
        e = np.exp(scores - scores.max(-1, keepdims=True))
        w = e / e.sum(-1, keepdims=True)
    w = np.nan_to_num(w, nan=0.0)
    return np.einsum("...mn,...nv->...mv", w, V)
