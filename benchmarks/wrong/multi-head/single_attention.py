import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1 or Wq.shape[1] % h:
        raise ValueError("h")
    q, k, v = X @ Wq, X @ Wk, X @ Wv
    attention = torch.softmax(q @ k.T / k.shape[1] ** 0.5, dim=-1)
    return attention @ v @ Wo
