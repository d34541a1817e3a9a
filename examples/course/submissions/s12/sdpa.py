import torch


def sdpa(Q, K, V, mask=None):
    scores = torch.matmul(Q, K.transpose(-1, -2))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
    return torch.matmul(weights, V)
