import torch


def context(weights, H):
    # make sure that they are probabilities
    probs = weights / weights.sum(dim=-1, keepdim=True)
    return torch.einsum("...n,nd->...d", probs, H)
