import torch
from torch.distributions import Categorical


def cross_entropy(logits, labels, pad):
    rows, targets = [], []
    for row, target in zip(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1), strict=True):
        if int(target) != pad:
            rows.append(row)
            targets.append(target)
    if not rows:
        return torch.zeros((), dtype=logits.dtype), torch.ones((), dtype=logits.dtype)
    loss = -Categorical(logits=torch.stack(rows)).log_prob(torch.stack(targets)).mean()
    return loss, loss.exp()
