import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    scores = torch.matmul(X @ Wq, (M @ Wk).transpose(-1, -2)) / Wk.shape[1] ** 0.5
    scores = torch.where(mask, scores, float("-inf"))
    scores = torch.where(present[..., None, :], float("-inf"), scores)  # key padding mask
    return torch.matmul(torch.nan_to_num(torch.softmax(scores, dim=-1)), M @ Wv)
