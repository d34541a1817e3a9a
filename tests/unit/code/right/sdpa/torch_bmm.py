import math

import torch


def sdpa(Q, K, V, mask=None):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError("sizes")
    lead = Q.shape[:-2]
    q, k, v = (x.reshape(-1, *x.shape[-2:]) for x in (Q, K, V))
    scores = torch.bmm(q, k.transpose(1, 2)).div(math.sqrt(Q.size(-1)))
    if mask is not None:
        if mask.shape[-2:] != scores.shape[-2:]:
            raise ValueError("mask")
        mask = mask.expand(*lead, *mask.shape[-2:]).reshape(scores.shape)
        scores = scores.masked_fill(mask.logical_not(), float("-inf"))
    weights = torch.nan_to_num(torch.softmax(scores, dim=2), nan=0.0)
    return torch.bmm(weights, v).reshape(*lead, Q.size(-2), V.size(-1))
