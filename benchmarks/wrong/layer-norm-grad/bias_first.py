import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("shapes")
    with torch.enable_grad():
        a = x.detach().clone().requires_grad_()
        w = gamma.detach().clone().requires_grad_()
        b = torch.zeros_like(w).requires_grad_()
        out = torch.layer_norm(a, x.shape[-1:], w, b, eps)
        out.backward(G)
    return a.grad, b.grad, w.grad
