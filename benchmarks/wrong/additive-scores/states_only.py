import torch


def additive_scores(s, H, W, U, v):
    if W.shape[1] != s.shape[0] or W.shape[0] != U.shape[0]:
        raise ValueError("W")
    return torch.tanh(H @ U.T) @ v
