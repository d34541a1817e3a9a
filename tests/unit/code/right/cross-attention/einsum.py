import numpy as np


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if (Wq.shape[0], Wk.shape[0], Wv.shape[0]) != (X.shape[-1], M.shape[-1], M.shape[-1]):
        raise ValueError("rows of the matrices")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or the leading axes")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    # scores of q and k through the one matrix Wq Wk^T
    scores = np.einsum("...id,dk,ek,...je->...ij", X, Wq, Wk, M, optimize=True) / Wk.shape[1] ** 0.5
    hidden = ~(mask & present.reshape(*present.shape[:-1], 1, -1))
    scores[hidden] = -np.inf
    top = scores.max(-1, keepdims=True, initial=np.finfo(scores.dtype).min)
    p = np.exp(scores - top)
    norm = p.sum(-1, keepdims=True)
    norm[norm == 0] = 1
    return np.einsum("...ij,...je,ev->...iv", p / norm, M, Wv, optimize=True)
