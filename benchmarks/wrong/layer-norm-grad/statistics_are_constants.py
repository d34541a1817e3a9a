import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if gamma.shape != x.shape[-1:] or G.shape != x.shape:
        raise ValueError("shapes")
    leaf, scale = x.detach().clone().requires_grad_(), gamma.detach().clone().requires_grad_()
    shift = torch.zeros_like(gamma, requires_grad=True)
    with torch.no_grad():
        mean = x.mean(-1, keepdim=True)
        std = (x.var(-1, keepdim=True, unbiased=False) + eps).sqrt()
    y = (leaf - mean) / std * scale + shift
    return torch.autograd.grad(y, (leaf, scale, shift), G)
