import torch


def context(weights, H):
    if weights.shape[-1] != H.shape[0]:
        raise ValueError("sizes differ")
    contributions = weights.unsqueeze(-1) * H
    pooled, where = contributions.max(dim=-2)
    return pooled
