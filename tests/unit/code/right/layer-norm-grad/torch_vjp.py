import torch
from torch.func import vjp


def layer_norm_grad(x, gamma, G, eps=1e-5):
    if G.shape != x.shape or gamma.shape != x.shape[-1:]:
        raise ValueError("shapes")

    def forward(x, gamma, beta):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) * torch.rsqrt(variance + eps) * gamma + beta

    _, pullback = vjp(forward, x, gamma, torch.zeros_like(gamma))
    return tuple(pullback(G))
