import torch


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes")
    return w * (g - (w * g).sum(dim=-1, keepdim=True))
