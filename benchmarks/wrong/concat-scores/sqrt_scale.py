import torch


def concat_scores(q, K, W1, w2):
    x = torch.cat([q.repeat(len(K), 1), K], dim=1)
    da = W1.shape[0]
    return torch.tanh(x @ W1.T).matmul(w2) / (da**0.5)
