import torch


def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape)
    scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1)
