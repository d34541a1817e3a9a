import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    energy = torch.einsum("...id,...jd->...ij", X @ Wq, M @ Wk)
    seen = mask & present.unsqueeze(-2)
    attn = energy.masked_fill(~seen, torch.finfo(energy.dtype).min).softmax(-1)
    return (attn * seen) @ (M @ Wv)
