import torch


def score(q, k, W1, w2):
    return torch.inner(w2, torch.tanh(torch.mv(W1, torch.hstack((q, k)))))


concat_scores = torch.vmap(score, in_dims=(None, 0, None, None))
