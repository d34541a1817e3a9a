import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    Q, K, V = torch.matmul(X, Wq), torch.matmul(X, Wk), torch.matmul(X, Wv)
    scores = torch.matmul(Q, K.t()) / (Wk.size(1) ** 0.5)
    if causal:
        scores = torch.tril(scores)
    weights = torch.nn.functional.softmax(scores, dim=-1)
    return torch.matmul(weights, V)
