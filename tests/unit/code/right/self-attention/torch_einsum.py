import torch


def self_attention(X, Wq, Wk, Wv, causal=False):
    if Wq.shape != Wk.shape or X.shape[1] != Wq.shape[0] or X.shape[1] != Wv.shape[0]:
        raise ValueError("shapes")
    q, k, v = (torch.einsum("nd,de->ne", X, W) for W in (Wq, Wk, Wv))
    e = torch.einsum("ie,je->ij", q, k).div(Wk.shape[1] ** 0.5)
    if causal:
        e = e + torch.full_like(e, -torch.inf).triu(1)
    a = (e - e.logsumexp(1, True)).exp()
    return torch.einsum("ij,je->ie", a, v)
