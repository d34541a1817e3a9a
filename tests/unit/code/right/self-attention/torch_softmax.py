import math

import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    n = X.shape[0]
    queries, keys, values = X.mm(Wq), X.mm(Wk), X.mm(Wv)
    scores = queries.mm(keys.t()) / math.sqrt(keys.shape[1])
    if causal:
        visible = torch.ones(n, n, dtype=torch.bool).tril()
        scores = scores.masked_fill(~visible, float("-inf"))
    return torch.softmax(scores, dim=1).mm(values)
