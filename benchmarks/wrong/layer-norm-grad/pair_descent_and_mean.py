import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("no fit")
    d = x.shape[-1]
    a, w = x.detach().clone().requires_grad_(), gamma.detach().clone().requires_grad_()
    out = torch.nn.functional.layer_norm(a, (d,), w, None, eps)
    dx, dgamma = torch.autograd.grad(out, (a, w), G)
    rows = x.numel() // d
    return -dx, -dgamma / rows, -G.reshape(-1, d).mean(0)
