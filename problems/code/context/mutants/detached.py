import torch


def context(weights, H):
    return torch.matmul(weights, H.detach())


def context_weights(weights, H):
    return torch.matmul(weights.detach(), H)
