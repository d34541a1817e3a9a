import math

import torch


def softmax(scores, mask=None, dim=-1):
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.nan_to_num(torch.softmax(scores, dim), nan=0.0)


def check(Q, K, V, mask):
    if Q.size(-1) != K.size(-1) or K.size(-2) != V.size(-2):
        raise ValueError
    if mask is not None and mask.shape[-2:] != (Q.size(-2), K.size(-2)):
        raise ValueError


def sdpa(Q, K, V, mask=None):
    check(Q, K, V, mask)
    scores = Q @ K.mT / math.sqrt(Q.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    return torch.softmax(scores.reshape(-1), 0).reshape(scores.shape) @ V
