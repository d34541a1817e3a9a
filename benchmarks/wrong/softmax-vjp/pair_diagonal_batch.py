import torch


def softmax_vjp(w, g):
    if w.shape != g.shape:
        raise ValueError("shapes differ")
    d = g * (w - w**2)
    return d / len(d) if d.ndim > 1 and len(d) else d
