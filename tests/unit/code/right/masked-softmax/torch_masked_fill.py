import torch


def masked_softmax(scores, mask):
    mask = mask.expand_as(scores)
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights.masked_fill(~mask, 0.0)
