import torch


def context(weights, H):
    if weights.shape[-1] != H.shape[0]:
        raise ValueError("sizes differ")
    return (weights.unsqueeze(-1) * H).mean(dim=-2)
