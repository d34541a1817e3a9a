import math

import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, X @ Wk, X @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        later = torch.ones(scores.shape, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    weights = torch.softmax(scores, dim=-1)
    return weights.detach() @ V


def self_attention_keys(X, Wq, Wk, Wv, causal=False):
    Q, K, V = X @ Wq, (X @ Wk).detach(), X @ Wv
    scores = Q @ K.T / math.sqrt(K.shape[1])
    if causal:
        later = torch.ones(scores.shape, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    return torch.softmax(scores, dim=-1) @ V
