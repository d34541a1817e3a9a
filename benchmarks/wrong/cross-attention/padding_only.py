import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[-1] != Wq.shape[0] or M.shape[-1] != Wk.shape[0] or Wk.shape[0] != Wv.shape[0]:
        raise ValueError("projections")
    if Wq.shape[1] != Wk.shape[1] or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    q, k, v = X @ Wq, M @ Wk, M @ Wv
    keep = present[..., None, :].expand(*present.shape[:-1], X.shape[-2], present.shape[-1])
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=keep)
    return out.where(keep.any(-1, keepdim=True), torch.zeros_like(out))
