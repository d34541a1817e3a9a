import torch


def masked_softmax(scores, mask):
    mask = mask.expand(scores.shape)
    p = torch.softmax(scores, dim=-1)
    p = p.masked_fill(~mask, 0)
    total = p.sum(dim=-1, keepdim=True)
    # rows without anything visible stay zero
    return p / torch.where(total == 0, torch.ones_like(total), total)
