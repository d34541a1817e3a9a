import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    n = X.shape[0]
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    logits = Q @ K.T / K.shape[1] ** 0.5
    if not causal:
        return logits.softmax(-1) @ V
    mask = torch.tril(torch.ones(n, n)).bool()
    logits = logits.masked_fill(mask, torch.finfo(logits.dtype).min)
    weights = logits.softmax(-1).masked_fill(mask, 0)
    return weights @ V
