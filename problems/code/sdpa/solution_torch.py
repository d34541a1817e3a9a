import math

import torch


def sdpa(Q, K, V, mask=None):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError(f"shapes don't fit: Q {Q.shape}, K {K.shape}, V {V.shape}")
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])  # (..., m, n)
    if mask is None:
        return torch.softmax(scores, dim=-1) @ V
    if mask.shape[-2:] != scores.shape[-2:]:
        raise ValueError(f"mask {mask.shape} doesn't fit scores {scores.shape}")
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    weights = weights.masked_fill(~mask, 0.0)  # a query that sees nothing gets zeros, not NaN
    return weights @ V  # (..., m, dv)
