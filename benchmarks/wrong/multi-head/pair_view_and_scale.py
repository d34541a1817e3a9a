import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    n, dm = X.shape[0], Wq.shape[1]
    if h < 1 or dm % h:
        raise ValueError("h")
    q, k, v = [(X @ W).reshape(h, n, dm // h) for W in (Wq, Wk, Wv)]
    a = torch.softmax(q @ k.mT / dm**0.5, -1)
    return (a @ v).permute(1, 0, 2).reshape(n, dm) @ Wo
