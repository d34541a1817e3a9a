import torch


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    return w * (g - g.mean(dim=-1, keepdim=True))
