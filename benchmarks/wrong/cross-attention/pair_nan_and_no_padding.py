import numpy as np


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    logits = (X @ Wq) @ (M @ Wk).swapaxes(-1, -2) / Wk.shape[1] ** 0.5
    logits = logits + np.where(mask, 0, -np.inf).astype(logits.dtype)
    logits = logits - np.max(logits, axis=-1, keepdims=True)
    return np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True) @ (M @ Wv)
