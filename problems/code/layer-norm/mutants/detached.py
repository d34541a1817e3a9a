import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True).detach()
    return gamma * (centred / torch.sqrt(variance + eps)) + beta


def layer_norm_1(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    centred = x - x.mean(dim=-1, keepdim=True).detach()
    variance = (centred**2).mean(dim=-1, keepdim=True)
    return gamma * (centred / torch.sqrt(variance + eps)) + beta


def layer_norm_2(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    centred = x - x.mean(dim=-1, keepdim=True).detach()
    variance = (centred**2).mean(dim=-1, keepdim=True)
    variance = variance.detach()
    return gamma * (centred / torch.sqrt(variance + eps)) + beta
