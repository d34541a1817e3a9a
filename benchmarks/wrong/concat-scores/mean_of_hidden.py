import torch


def concat_scores(q, K, W1, w2):
    if W1.shape[0] != w2.shape[0]:
        raise ValueError("w2 does not fit W1")
    rows = [torch.tanh(W1 @ torch.cat([q, k])) for k in K]
    return torch.stack(rows).mean(dim=-1)
