import torch


def additive_scores(s, H, W, U, v):
    if v.numel() != W.shape[0]:
        raise ValueError("v")
    scores = []
    for h in H:
        t = torch.tanh(W @ s + U @ h)
        scores.append(t.mean())
    return torch.stack(scores)
