import torch
import torch.nn.functional as F


def cross_entropy(logits, labels, pad):
    keep = labels != pad
    if not bool(keep.any()):
        return logits.new_zeros(()), logits.new_ones(())
    probabilities = torch.softmax(logits[keep], dim=-1)
    loss = F.cross_entropy(probabilities, labels[keep])
    return loss, torch.exp(loss)
