import torch


def cross_attention(X, M, Wq, Wk, Wv, mask, present):
    if X.size(-1) != Wq.size(0) or M.size(-1) != Wk.size(0) or M.size(-1) != Wv.size(0):
        raise ValueError("features")
    if Wq.size(1) != Wk.size(1) or X.shape[:-2] != M.shape[:-2]:
        raise ValueError("dk or batch")
    if mask.shape != (X.size(-2), M.size(-2)) or present.shape != M.shape[:-1]:
        raise ValueError("masks")
    q, k, v = X @ Wq, M @ Wk, M @ Wv
    attn = torch.einsum("...qd,...kd->...qk", q, k) / Wk.size(1) ** 0.5
    attn = attn.masked_fill(~mask, float("-inf")).masked_fill(~present.unsqueeze(-2), float("-inf"))
    return torch.nan_to_num(torch.softmax(attn, dim=-1), nan=0.0) @ v
