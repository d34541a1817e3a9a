import numpy as np


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or len(Wk) != len(Wv):
        raise ValueError("feature sizes")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("sizes")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("mask sizes")
    logits = np.matmul(X @ Wq, np.moveaxis(M @ Wk, -1, -2)) / np.sqrt(Wq.shape[1], dtype=X.dtype)
    hidden = np.broadcast_to(~mask | ~present[..., np.newaxis, :], logits.shape)
    logits = np.ma.array(logits, mask=hidden)
    weights = np.ma.exp(logits - logits.max(axis=-1)[..., np.newaxis])
    weights = (weights / weights.sum(axis=-1)[..., np.newaxis]).filled(0)
    return np.matmul(weights.astype(X.dtype), M @ Wv)
