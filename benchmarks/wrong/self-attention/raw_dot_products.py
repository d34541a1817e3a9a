import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    queries, keys, values = X @ Wq, X @ Wk, X @ Wv
    attn_scores = queries @ keys.T
    if causal:
        n = X.shape[0]
        future = torch.triu(torch.ones(n, n, dtype=torch.bool, device=X.device), diagonal=1)
        attn_scores = attn_scores.masked_fill(future, -torch.inf)
    return torch.softmax(attn_scores, dim=-1) @ values
