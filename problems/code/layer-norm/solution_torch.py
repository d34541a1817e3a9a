import torch


def layer_norm(x, gamma, beta, eps=1e-5):
    if not gamma.shape == beta.shape == x.shape[-1:]:  # torch would broadcast a size of 1
        raise ValueError("gamma and beta must have one entry for each entry of a row")
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = (centred**2).mean(dim=-1, keepdim=True)  # of the centred row: nothing cancels
    return gamma * (centred / torch.sqrt(variance + eps)) + beta
