import torch


def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape)
    e = torch.where(mask, scores, torch.zeros_like(scores)).exp() * mask
    z = e.sum(-1, keepdim=True)
    return e / torch.where(mask.any(-1, keepdim=True), z, torch.ones_like(z))
