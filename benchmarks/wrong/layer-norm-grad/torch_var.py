import torch


def layer_norm_grad(x, gamma, G, eps=1e-5):
    d = x.shape[-1]
    if gamma.shape != (d,) or G.shape != x.shape:
        raise ValueError("shapes")
    sigma = torch.sqrt(x.var(dim=-1, keepdim=True) + eps)
    z = (x - x.mean(dim=-1, keepdim=True)) / sigma
    h = gamma * G
    dx = (h - h.mean(dim=-1, keepdim=True) - z * (h * z).mean(dim=-1, keepdim=True)) / sigma
    return dx, (G * z).reshape(-1, d).sum(0), G.reshape(-1, d).sum(0)
