import torch


def cross_entropy(logits, labels, pad):
    mask = labels.ne(pad)
    target = labels.masked_fill(~mask, 0)
    picked = logits.gather(-1, target.unsqueeze(-1)).squeeze(-1)
    nll = (torch.logsumexp(logits, dim=-1) - picked) * mask
    loss = nll.sum() / max(1, int(mask.sum()))
    return loss, torch.exp(loss)
