import torch
import torch.nn.functional as F


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.shape[:-2] != M.shape[:-2] or Wq.shape[1] != Wk.shape[1]:
        raise ValueError("batch or dk")
    if mask.shape != (X.shape[-2], M.shape[-2]) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    q, k, v = F.linear(X, Wq.T), F.linear(M, Wk.T), F.linear(M, Wv.T)
    seen = mask & present.unsqueeze(-2)
    out = F.scaled_dot_product_attention(q, k, v, attn_mask=seen)
    # rows that see nothing
    return torch.where(seen.any(dim=-1, keepdim=True), out, torch.zeros_like(out))
