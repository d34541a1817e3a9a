import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = X.shape[0], Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    d = dm // h
    q = (X @ Wq).reshape(n, h, d)
    k = (X @ Wk).reshape(n, h, d)
    v = (X @ Wv).reshape(n, h, d)
    e = torch.einsum("qhd,khd->hqk", q, k) / d**0.5
    a = torch.softmax(e, dim=1)
    return torch.einsum("hqk,khd->qhd", a, v).reshape(n, dm) @ Wo
