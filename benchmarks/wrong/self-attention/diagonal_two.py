import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    n = Q.shape[0]
    scores = Q @ K.T / K.shape[1] ** 0.5
    if causal:
        hidden = torch.triu(torch.ones(n, n), diagonal=2) == 1
        scores = scores.masked_fill(hidden, float("-inf"))
    return torch.softmax(scores, -1) @ V
