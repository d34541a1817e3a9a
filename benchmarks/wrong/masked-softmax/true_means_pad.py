import torch


def masked_softmax(scores, mask):
    hide = mask.broadcast_to(scores.shape)
    filled = scores.masked_fill(hide, torch.finfo(scores.dtype).min)
    out = torch.softmax(filled, -1)
    return out.masked_fill(hide, 0)
