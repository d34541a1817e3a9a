import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    q, k, v = X @ Wq, X @ Wk, X @ Wv
    s = torch.einsum("id,jd->ij", q, k) / k.shape[-1] ** 0.5
    if causal:
        s = s.masked_fill(~torch.tril(torch.ones_like(s, dtype=torch.bool)), float("-inf"))
    a = torch.softmax(s, dim=0)
    return torch.einsum("ij,jd->id", a, v)
