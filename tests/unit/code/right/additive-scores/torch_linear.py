import torch
import torch.nn.functional as F  # noqa: N812


def additive_scores(s, H, W, U, v):
    if W.shape[0] != U.shape[0] or U.shape[0] != v.shape[0]:
        raise ValueError("attention size")
    hidden = torch.tanh(F.linear(s, W) + F.linear(H, U))
    return F.linear(hidden, v.unsqueeze(0)).squeeze(1)
