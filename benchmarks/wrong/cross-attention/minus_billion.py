import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    scores = X @ Wq @ (M @ Wk).mT / Wk.shape[1] ** 0.5
    scores = scores.masked_fill((mask & present.unsqueeze(-2)) == 0, -1e9)
    return scores.softmax(dim=-1) @ (M @ Wv)
