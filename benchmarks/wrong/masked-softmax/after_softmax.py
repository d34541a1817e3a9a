import torch
import torch.nn.functional as F


def masked_softmax(scores, mask):
    mask = torch.broadcast_to(mask, scores.shape)
    weights = F.softmax(scores, dim=-1)
    weights = weights * mask.to(weights.dtype)
    return weights
