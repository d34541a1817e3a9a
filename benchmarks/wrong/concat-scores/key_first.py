import torch


def concat_scores(q, K, W1, w2):
    queries = q.unsqueeze(0).repeat(K.shape[0], 1)
    pairs = torch.cat([K, queries], dim=1)
    return torch.tanh(pairs @ W1.T) @ w2
