import math

import torch


def _heads(X, W, h):
    return (X @ W).reshape(len(X), h, W.shape[1] // h).transpose(0, 1)


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h:
        raise ValueError("h")
    Q, K, V = _heads(X, Wq, h), _heads(X, Wk, h), _heads(X, Wv, h)
    weights = torch.softmax(Q @ K.transpose(1, 2) / math.sqrt(Q.shape[2]), dim=-1)
    return (weights.detach() @ V).transpose(0, 1).reshape(len(X), Wq.shape[1]) @ Wo


def multi_head_queries(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h:
        raise ValueError("h")
    Q, K, V = _heads(X, Wq, h), _heads(X, Wk, h), _heads(X, Wv, h)
    weights = torch.softmax(Q.detach() @ K.transpose(1, 2) / math.sqrt(Q.shape[2]), dim=-1)
    return (weights @ V).transpose(0, 1).reshape(len(X), Wq.shape[1]) @ Wo
