import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    T = X.size(0)
    k, q, v = X @ Wk, X @ Wq, X @ Wv
    wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
    tril = torch.tril(torch.ones(T, T))
    wei = wei.masked_fill(tril == 0, float("-inf"))
    wei = torch.softmax(wei, dim=-1)
    return wei @ v
