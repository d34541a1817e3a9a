import torch


def concat_scores(q, K, W1, w2):
    if W1.shape[1] != q.shape[0] + K.shape[1]:
        raise ValueError("W1")
    scores = []
    for j in range(K.shape[0]):
        pair = torch.cat([q, torch.zeros_like(K[j])])
        scores.append(torch.dot(w2, torch.tanh(W1.mv(pair))))
    return torch.stack(scores)
