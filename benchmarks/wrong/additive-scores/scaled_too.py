import torch


def additive_scores(s, H, W, U, v):
    e = torch.einsum("a,na->n", v, torch.tanh(s @ W.T + H @ U.T))
    return e / W.shape[0] ** 0.5
