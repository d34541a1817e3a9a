import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = X.shape[0], Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    d = dm // h
    Q, K, V = [(X @ W).reshape(n, h, d).transpose(0, 1) for W in (Wq, Wk, Wv)]
    weights = torch.softmax(Q @ K.transpose(1, 2) / d**0.5, dim=0)
    return (weights @ V).transpose(0, 1).reshape(n, dm) @ Wo
