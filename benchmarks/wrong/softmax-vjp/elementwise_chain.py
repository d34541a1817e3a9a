import torch


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    # chain rule: outer times inner derivative
    return torch.mul(w, g)
