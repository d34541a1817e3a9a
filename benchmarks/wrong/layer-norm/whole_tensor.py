import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    if gamma.numel() != x.shape[-1] or beta.numel() != x.shape[-1] or gamma.dim() > 1 or beta.dim() > 1:
        raise ValueError("gamma or beta doesn't match the features")
    x_hat = (x - torch.mean(x)) * torch.rsqrt(torch.var(x, unbiased=False) + eps)
    return x_hat * gamma + beta
