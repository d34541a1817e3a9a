import torch


def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape)
    scores = scores.masked_fill(mask, -float("inf"))
    return torch.softmax(scores, dim=-1)
