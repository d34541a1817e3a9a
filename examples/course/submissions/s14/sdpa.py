import math

import torch


def sdpa(Q, K, V, mask=None):
    scores = Q @ K.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    attention = torch.softmax(scores, dim=-1).nan_to_num(0.0)
    return (attention / math.sqrt(K.shape[-1])) @ V
