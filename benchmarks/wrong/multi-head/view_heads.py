import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n = X.shape[0]
    dm = Wq.shape[1]
    if h < 1 or dm % h != 0:
        raise ValueError("h must divide the model size")
    d = dm // h
    q = (X @ Wq).reshape(h, n, d)
    k = (X @ Wk).reshape(h, n, d)
    v = (X @ Wv).reshape(h, n, d)
    att = torch.softmax(q @ k.transpose(1, 2) / d**0.5, dim=-1)
    z = (att @ v).transpose(0, 1).reshape(n, dm)
    return z @ Wo
