import torch


def concat_scores(q, K, W1, w2):
    scores = [w2 @ torch.tanh(W1 @ torch.cat((q, K[j]))) for j in range(len(K))]
    return torch.stack(scores)
