import torch


def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape)
    neg = torch.full_like(scores, -1e-9)  # "minus infinity"
    masked = torch.where(mask, scores, neg)
    attention = torch.softmax(masked, dim=-1)
    any_visible = mask.any(dim=-1, keepdim=True)
    return attention * any_visible
