import math

import torch


def _check(Q, K, V, mask):
    if Q.shape[-1] != K.shape[-1] or K.shape[-2] != V.shape[-2]:
        raise ValueError("shapes of Q, K and V don't fit")
    if mask is not None and mask.shape[-2:] != (Q.shape[-2], K.shape[-2]):
        raise ValueError("shape of the mask doesn't fit")


def _weights(Q, K, mask):
    scores = Q @ K.transpose(-2, -1) / math.sqrt(Q.shape[-1])
    if mask is None:
        return torch.softmax(scores, dim=-1)
    weights = torch.softmax(scores.masked_fill(~mask, -math.inf), dim=-1)
    return weights.masked_fill(~mask, 0.0)


def sdpa(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    return _weights(Q, K, mask).detach() @ V


def sdpa_keys(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    return _weights(Q, K.detach(), mask) @ V


def sdpa_values(Q, K, V, mask=None):
    _check(Q, K, V, mask)
    return _weights(Q, K, mask) @ V.detach()
