import numpy as np


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    s = np.einsum("...id,...jd->...ij", X @ Wq, M @ Wk) / float(Wq.shape[1]) ** 0.5
    s = np.where(mask, s, np.finfo(s.dtype).min)
    w = np.exp(s - s.max(-1, keepdims=True)) * mask
    z = w.sum(-1, keepdims=True)
    z[z == 0] = 1
    return np.einsum("...ij,...jv->...iv", w / z, M @ Wv)
