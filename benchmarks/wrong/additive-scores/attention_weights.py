import torch


def additive_scores(s, H, W, U, v):
    e = torch.tanh(W @ s + H @ U.T) @ v
    alpha = torch.softmax(e, dim=-1)
    print(alpha.sum())  # should be 1
    return alpha
