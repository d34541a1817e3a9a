import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    empty = ~mask.any(dim=-1, keepdim=True)
    # a row that sees nothing looks everywhere equally
    s = torch.where(empty, torch.zeros_like(scores), scores)
    s = s.masked_fill(~(mask | empty), -torch.inf)
    return torch.softmax(s, dim=-1)
