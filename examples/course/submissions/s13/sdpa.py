import math

import torch


def sdpa(Q, K, V, mask=None):
    weights = torch.exp(Q @ K.mT / math.sqrt(Q.size(-1)))
    if mask is not None:
        weights = weights * mask
    weights = weights / weights.sum(-1, keepdim=True).clamp_min(1e-300 if Q.dtype == torch.float64 else 1e-30)
    return weights @ V
