import torch


def additive_scores(s, H, W, U, v):
    da = v.shape[0]
    if W.shape != (da, s.shape[0]) or U.shape != (da, H.shape[1]):
        raise ValueError("W or U has the wrong shape")
    scores = []
    for h in H:
        scores.append(torch.dot(v, torch.tanh(W.mv(s) + U.mv(h))))
    return torch.stack(scores)
