import numpy as np


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    combined = np.logical_or(mask, present[..., np.newaxis, :])
    s = np.matmul(X @ Wq, np.swapaxes(M @ Wk, -2, -1)) / float(Wq.shape[1]) ** 0.5
    s = np.where(combined, s, np.finfo(s.dtype).min)
    w = np.exp(s - s.max(-1, keepdims=True)) * combined
    z = w.sum(-1, keepdims=True)
    return np.matmul(w / np.where(z > 0, z, 1), M @ Wv)
