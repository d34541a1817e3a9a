import torch


def additive_scores(s, H, W, U, v):
    z = torch.nn.functional.linear(H, U) + torch.nn.functional.linear(s, W)
    return torch.sigmoid(z) @ v
