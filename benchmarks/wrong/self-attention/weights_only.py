import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    S = Q @ K.T / K.shape[1] ** 0.5
    if causal:
        S = S.masked_fill(torch.ones_like(S).triu(1).bool(), float("-inf"))
    alpha = torch.softmax(S, dim=1)
    output = alpha @ V
    return alpha
