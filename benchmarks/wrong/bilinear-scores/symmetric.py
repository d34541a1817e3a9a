import torch


def bilinear_scores(q, K, W):
    if W.shape[0] == W.shape[1]:
        W = 0.5 * (W + W.t())  # a similarity has to be symmetric
    return torch.mv(K, torch.mv(W.t(), q))
