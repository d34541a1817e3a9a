import torch


def concat_scores(q, K, W1, w2):
    scores = []
    for k in K:
        scores.append(w2 @ (W1 @ torch.cat((k, q))))
    return torch.stack(scores)
