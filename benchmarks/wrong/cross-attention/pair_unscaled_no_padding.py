import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    similarity = torch.matmul(X @ Wq, (M @ Wk).transpose(-2, -1))
    weights = torch.softmax(similarity.masked_fill(~mask, -1e300 if X.dtype == torch.float64 else -1e38), -1)
    return torch.matmul(weights * mask, M @ Wv)
