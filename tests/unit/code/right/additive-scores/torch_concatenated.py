import torch


def additive_scores(s, H, W, U, v):
    n = H.shape[0]
    if s.shape[0] != W.shape[1]:
        raise ValueError("s")
    pairs = torch.cat((s.expand(n, -1), H), dim=-1)
    weight = torch.cat((W, U), dim=1)
    return (torch.tanh(pairs @ weight.mT) @ v[:, None])[:, 0]
