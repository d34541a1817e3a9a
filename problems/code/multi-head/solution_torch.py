import math

import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = len(X), Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError(f"{h} heads can't share {dm} columns")

    def heads(W):
        return (X @ W).reshape(n, h, dm // h).transpose(0, 1)  # (h, n, dm / h)

    Q, K, V = heads(Wq), heads(Wk), heads(Wv)
    scores = Q @ K.transpose(1, 2) / math.sqrt(dm // h)  # (h, n, n)
    weights = torch.softmax(scores, dim=-1)
    return (weights @ V).transpose(0, 1).reshape(n, dm) @ Wo
