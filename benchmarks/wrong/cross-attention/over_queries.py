import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    scores = X @ Wq @ (M @ Wk).mT / Wk.shape[1] ** 0.5
    seen = mask & present.unsqueeze(-2)
    weights = scores.masked_fill(~seen, torch.finfo(scores.dtype).min).softmax(-2) * seen
    return weights @ (M @ Wv)
