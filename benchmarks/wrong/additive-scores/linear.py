import torch


def additive_scores(s, H, W, U, v):
    hidden = torch.matmul(H, U.t()) + torch.matmul(W, s)
    return hidden @ v
