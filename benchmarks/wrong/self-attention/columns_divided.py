import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    q, k, v = X @ Wq, X @ Wk, X @ Wv
    logits = q @ k.T / k.shape[1] ** 0.5
    if causal:
        future = torch.ones_like(logits).triu(1).bool()
        logits = logits.masked_fill(future, float("-inf"))
    top, _ = logits.max(dim=1, keepdim=True)
    e = torch.exp(logits - top)
    return e / e.sum(dim=1) @ v
