import torch


def bilinear_scores(q, K, W):
    bias = torch.ones(1, dtype=q.dtype, device=q.device)
    keys = torch.matmul(W, K.transpose(0, 1))
    return torch.matmul(q, keys) + bias
