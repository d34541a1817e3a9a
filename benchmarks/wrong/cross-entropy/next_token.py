import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, pad):
    # predict the next token
    logits = logits[..., :-1, :].flatten(0, -2)
    labels = labels[..., 1:].flatten()
    keep = labels != pad
    if not keep.any():
        return logits.new_zeros(()), logits.new_ones(())
    loss = F.cross_entropy(logits[keep], labels[keep])
    return loss, loss.exp()
