import torch


def concat_scores(q, K, W1, w2):
    x = torch.cat([q.expand(len(K), -1), K.detach()], dim=1)
    return torch.tanh(x @ W1.T) @ w2


def concat_scores_query(q, K, W1, w2):
    x = torch.cat([q.detach().expand(len(K), -1), K], dim=1)
    return torch.tanh(x @ W1.T) @ w2


def concat_scores_inputs(q, K, W1, w2):
    x = torch.cat([q.expand(len(K), -1), K], dim=1)
    return torch.tanh(x.detach() @ W1.T) @ w2


def concat_scores_hidden(q, K, W1, w2):
    x = torch.cat([q.expand(len(K), -1), K], dim=1)
    return torch.tanh(x @ W1.T).detach() @ w2
