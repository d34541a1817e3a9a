import torch


def masked_softmax(scores, mask):
    hidden = ~torch.broadcast_to(mask, scores.shape)
    scores[hidden] = float("-inf")
    return torch.nan_to_num(torch.softmax(scores, dim=-1))
