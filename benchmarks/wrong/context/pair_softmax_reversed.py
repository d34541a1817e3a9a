import torch


def context(weights, H):
    w = weights.softmax(-1)
    return torch.matmul(w, torch.flip(H, dims=[0]))
