import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.shape != x.shape[-1:] or beta.shape != x.shape[-1:]:
        raise ValueError("shapes")
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gamma * (x - mean) / torch.sqrt(std**2 + eps) + beta
