import torch


def bilinear_scores(q, K, W):
    """One (1, dk) by (dk, 1) product for each key."""
    n = K.shape[0]
    left = (q.unsqueeze(0) @ W).expand(n, 1, W.shape[1])
    return torch.bmm(left, K.unsqueeze(2)).reshape(n)
