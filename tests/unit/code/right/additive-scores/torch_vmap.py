import torch


def additive_scores(s, H, W, U, v):
    if len({W.size(0), U.size(0), v.size(0)}) > 1:
        raise ValueError("W, U, v: rows")

    def score(h):
        return v @ (W @ s + U @ h).tanh()

    return torch.vmap(score)(H)
