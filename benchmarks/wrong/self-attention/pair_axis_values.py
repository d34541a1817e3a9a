import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    if Wv.shape[0] != X.shape[1]:
        raise ValueError("Wv does not fit")
    S = (X @ Wq) @ (X @ Wk).T / Wk.shape[1] ** 0.5
    if causal:
        S = S.masked_fill(torch.ones_like(S).triu(1).bool(), float("-inf"))
    return torch.softmax(S, 0) @ X
