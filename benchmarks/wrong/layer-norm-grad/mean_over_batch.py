import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("wrong shapes")
    leaf = x.detach().clone().requires_grad_()
    y = torch.nn.functional.layer_norm(leaf, (d,), gamma.detach(), None, eps)
    (dx,) = torch.autograd.grad(y, leaf, G)
    z = torch.nn.functional.layer_norm(x.detach(), (d,), None, None, eps)
    return dx, (G * z).reshape(-1, d).mean(0), G.reshape(-1, d).mean(0)
