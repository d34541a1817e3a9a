import torch


def concat_scores(q, K, W1, w2):
    dq, dk = q.shape[0], K.shape[1]
    Wq, Wk = torch.split(W1, [dq, dk], dim=1)
    left = torch.tanh(Wq @ q)
    right = torch.tanh(K @ Wk.T)
    return (left + right) @ w2
