import torch.nn.functional as F  # noqa: N812


def context(weights, H):
    return F.linear(weights, H.T)
