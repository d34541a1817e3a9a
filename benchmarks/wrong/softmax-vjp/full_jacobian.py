import torch


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    J = torch.diag_embed(w) - w.unsqueeze(-1) * w.unsqueeze(-2)
    return J
