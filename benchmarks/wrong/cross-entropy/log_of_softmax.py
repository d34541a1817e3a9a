import torch


def cross_entropy(logits, labels, pad):
    keep = labels != pad
    if keep.sum() == 0:
        return logits.new_zeros(()), logits.new_ones(())
    probs = torch.softmax(logits, dim=-1)[keep]
    p = probs[torch.arange(len(probs)), labels[keep]]
    loss = torch.mean(-torch.log(p))
    return loss, torch.exp(loss)
