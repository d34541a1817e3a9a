import math

import numpy as np


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes")
    d = Q.shape[-1]
    S = np.einsum("...md,...nd->...mn", Q, K) / math.sqrt(d)
    if mask is not None:
        if mask.shape[-2:] != S.shape[-2:]:
            raise ValueError("mask")
        S = np.where(mask, S, -np.inf).astype(Q.dtype)
    W = np.exp(S - S.max(axis=-1, keepdims=True))
    W = W / W.sum(axis=-1, keepdims=True)
    return np.einsum("...mn,...nv->...mv", W, V)
