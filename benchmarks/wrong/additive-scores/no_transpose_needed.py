import torch


def additive_scores(s, H, W, U, v):
    if W.shape[1] != s.shape[0]:
        raise ValueError("W and s")
    # row vector convention
    Ws = s @ W if W.shape[0] == W.shape[1] else s @ W.T
    return torch.tanh(Ws + H @ U.T) @ v
