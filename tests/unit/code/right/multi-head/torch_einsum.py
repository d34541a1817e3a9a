import torch


def multi_head(X, Wq, Wk, Wv, Wo, h):
    if h < 1:
        raise ValueError("no head")
    dm = Wq.shape[1]
    q, k, v = ((X @ W).unflatten(1, (h, dm // h)) for W in (Wq, Wk, Wv))
    if dm % h != 0 or k.shape != q.shape or v.shape != q.shape:
        raise ValueError("sizes")
    e = torch.einsum("ihc,jhc->hij", q, k) / (dm / h) ** 0.5
    a = torch.exp(e - torch.logsumexp(e, dim=-1, keepdim=True))
    return torch.einsum("hij,jhc->ihc", a, v).flatten(1) @ Wo
