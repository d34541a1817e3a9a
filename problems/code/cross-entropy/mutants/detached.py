import torch


def _losses(logits, labels, pad):
    counts = labels != pad
    rows, right = logits[counts], labels[counts]
    return torch.logsumexp(rows, 1), rows[torch.arange(len(rows)), right], max(1, len(rows))


def cross_entropy(logits, labels, pad):
    total, right, count = _losses(logits, labels, pad)
    loss = (total.detach() - right).sum() / count
    return loss, torch.exp(loss)


def cross_entropy_right(logits, labels, pad):
    total, right, count = _losses(logits, labels, pad)
    loss = (total - right.detach()).sum() / count
    return loss, torch.exp(loss)


def cross_entropy_perplexity(logits, labels, pad):
    total, right, count = _losses(logits, labels, pad)
    loss = (total - right).sum() / count
    return loss, torch.exp(loss).detach()


def cross_entropy_item(logits, labels, pad):
    total, right, count = _losses(logits, labels, pad)
    loss = (total - right).sum() / count
    return loss, torch.exp(loss.detach())
